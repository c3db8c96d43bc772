package handlers

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"holdpoint/views"

	"golang.org/x/net/html"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// mailLinks lists where the links of a mail lead: those of its HTML part with their words,
// then the addresses in its text. left is how many more there are; whatever needs a second
// look is among those that are shown.
func mailLinks(body, text string) (list []views.MailLink, left int) {
	r := linkReader{seen: map[[2]string]bool{}}
	r.html(body)
	for _, raw := range linksInText(text) {
		raw = strings.TrimRight(raw, ".,;:!?)]}'\"»”")
		r.add(raw, raw)
	}
	list = r.list
	if len(list) <= views.ShownRows {
		return list, 0
	}
	slices.SortStableFunc(list, func(a, b views.MailLink) int { return weight(b) - weight(a) })
	return list[:views.ShownRows], len(list) - views.ShownRows
}

// linksInText lists the web addresses in a text, which may have megabytes: what stands
// before "://" tells, up to white space or a mark that no address holds.
func linksInText(text string) (out []string) {
	for pos := 0; ; {
		i := strings.Index(text[pos:], "://")
		if i < 0 {
			return out
		}
		i += pos
		end := i + len("://")
		for _, scheme := range []string{"https", "http"} {
			at := i - len(scheme)
			if at < pos || !strings.EqualFold(text[at:i], scheme) || at > 0 && isWord(text[at-1]) {
				continue
			}
			rest := text[end:]
			if n := strings.IndexAny(rest, "\t\n\f\r <>\""); n >= 0 {
				rest = rest[:n]
			}
			if rest != "" {
				end += len(rest)
				out = append(out, text[at:end])
			}
			break
		}
		pos = end
	}
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// weight says how much a link needs a second look.
func weight(l views.MailLink) int {
	switch {
	case l.Claims != "":
		return 3
	case l.Warning != "" && l.Warning != views.LinkPlain:
		return 2
	case l.Warning != "":
		return 1
	}
	return 0
}

// linkReader collects links, each pair of words and address once.
type linkReader struct {
	list []views.MailLink
	seen map[[2]string]bool
	base string
}

// html reads the links of an HTML text as a mail program does, without building a tree.
func (r *linkReader) html(body string) {
	z := html.NewTokenizer(strings.NewReader(body))
	var href string
	var words strings.Builder
	open := false
	end := func() {
		if open {
			r.add(strings.Join(strings.Fields(words.String()), " "), href)
		}
		open = false
		words.Reset()
	}
	for {
		switch z.Next() {
		case html.ErrorToken:
			end()
			return
		case html.TextToken:
			if open {
				words.Write(z.Text())
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "a" {
				end()
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			switch t := z.Token(); t.Data {
			case "a":
				end()
				href, open = linkTo(t, "href")
			case "img":
				if alt, ok := linkTo(t, "alt"); ok && open {
					words.WriteString(" " + alt)
				}
			case "base":
				if to, ok := linkTo(t, "href"); ok && r.base == "" {
					r.base = to
				}
			default:
				r.other(t)
			}
		}
	}
}

// other adds what leads away without being a link of words.
func (r *linkReader) other(t html.Token) {
	for _, name := range map[string][]string{"area": {"href"}, "form": {"action"}, "button": {"formaction"}, "input": {"formaction"}}[t.Data] {
		if to, ok := linkTo(t, name); ok {
			r.add("", to)
		}
	}
}

func linkTo(t html.Token, name string) (string, bool) {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func (r *linkReader) add(words, raw string) {
	if key := [2]string{words, raw}; r.seen[key] {
		return
	} else {
		r.seen[key] = true
	}
	l := views.MailLink{URL: raw}
	l.Host, l.Warning = opened(raw, r.base)
	if words != raw {
		if l.Claims = claimed(words, l.Host); l.Claims != "" && l.Host == "" {
			l.Claims = ""
		}
	}
	l.Label, _ = views.Bound(words, 300)
	l.URL, _ = views.Bound(raw, 500)
	r.list = append(r.list, l)
}

var linkScheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*):`)

// opened gives the host that a browser opens for an address, read as browsers read it:
// blanks around and line ends inside are left out, a backslash is a slash.
func opened(raw, base string) (host string, warn views.LinkWarning) {
	s := strings.TrimFunc(raw, func(r rune) bool { return r <= ' ' })
	s = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(s)
	kind := ""
	if m := linkScheme.FindStringSubmatch(s); m != nil {
		kind = strings.ToLower(m[1])
		s = s[len(m[0]):]
	}
	switch kind {
	case "http", "https", "ftp", "ws", "wss":
		return hostIn(strings.TrimLeft(s, `/\`), kind)
	case "javascript", "vbscript", "data", "blob", "file", "filesystem":
		return "", views.LinkScript
	case "":
	default:
		return "", "" // a mail address, a telephone number, an app
	}
	switch slashes := strings.ReplaceAll(s, `\`, "/"); {
	case s == "" || s[0] == '#':
		return "", ""
	case strings.HasPrefix(slashes, "//"):
		return hostIn(strings.TrimLeft(slashes, "/"), "https")
	case base != "":
		return opened(base, "")
	}
	return "", views.LinkBroken
}

// hostIn reads the host of what follows the scheme.
func hostIn(s, kind string) (host string, warn views.LinkWarning) {
	if i := strings.IndexAny(s, `/\?#`); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s, warn = s[i+1:], views.LinkUserInfo
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		s = s[:i]
	}
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if isNumber(strings.Trim(s, "[]")) {
		return s, firstWarning(warn, views.LinkAddress)
	}
	host, err := idna.Lookup.ToASCII(s)
	switch {
	case err != nil || host == "":
		return "", firstWarning(warn, views.LinkBroken)
	case strings.Contains(host, "xn--"):
		return host, firstWarning(warn, views.LinkForeign)
	case kind == "http":
		return host, firstWarning(warn, views.LinkPlain)
	}
	return host, warn
}

func firstWarning(a, b views.LinkWarning) views.LinkWarning {
	if a != "" {
		return a
	}
	return b
}

// hostNumber is a host that browsers read as an IP address: decimal, octal or hexadecimal.
var hostNumber = regexp.MustCompile(`(?i)^(0x[0-9a-f]+|[0-9]+)(\.(0x[0-9a-f]+|[0-9]+)){0,3}$`)

func isNumber(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil || hostNumber.MatchString(host)
}

// hostInWords finds what looks like a host in the words of a link.
var hostInWords = regexp.MustCompile(`(?i)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}`)

// claimed gives the host that a link's words name, when it is another than the one that is
// opened; "" = they name none, or this one, or one that this one belongs to.
func claimed(words, opens string) string {
	for _, says := range hostInWords.FindAllString(words, 8) {
		ascii, err := idna.Lookup.ToASCII(says)
		if err != nil {
			continue
		}
		ascii = strings.TrimPrefix(ascii, "www.")
		if _, known := publicsuffix.PublicSuffix(ascii); !known && !strings.HasSuffix(ascii, ".example") && !strings.HasSuffix(ascii, ".test") {
			continue
		}
		if host := strings.TrimPrefix(opens, "www."); host != ascii && !strings.HasSuffix(host, "."+ascii) {
			return says
		}
	}
	return ""
}
