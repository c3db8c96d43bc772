package outbound

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"holdpoint/operation"
)

// ExcerptLimit is how many bytes of an answer are kept as evidence.
const ExcerptLimit = 2 << 10

const hidden = "***"

var (
	// A value beside a telling name: "api_key": "…", token=…, Set-Cookie: ….
	namedSecret = regexp.MustCompile(`(?i)((?:authorization|cookie|passw(?:or)?d|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|session(?:[_-]?id)?|signature|credential)[a-z0-9_-]*["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;&"'<>}]+(?: [^\s,;&"'<>}]+)?)`)
	scheme      = regexp.MustCompile(`(?i)\b(bearer|basic|digest)\s+[A-Za-z0-9._~+/=-]{6,}`)
	webToken    = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,4}`)
	prefixedKey = regexp.MustCompile(`\b(?:(?:sk|rk|pk|re|whsec|ghp|gho|shpat|shpss)_|xox[a-z]-|sk-|SG\.)[A-Za-z0-9_.-]{10,}`)
	mailAddress = regexp.MustCompile(`[\p{L}\p{N}._%+'-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+`)
	digits      = regexp.MustCompile(`\+?\(?\d(?:[ ().\x{00a0}-]{0,2}\d){6,22}`)
	isoDate     = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(?:\D|$)|^\d{4}-\d{2}-\d{2}$`)
)

// Mask hides secrets and personal data in s: the given secrets (also encoded), values
// beside telling names, tokens, mail addresses, and numbers that look like a phone or a
// card. Of a number the last two digits stay, so that people can compare.
func Mask(s string, secrets ...string) string {
	for _, secret := range secrets {
		s = maskSecret(s, secret)
	}
	s = namedSecret.ReplaceAllString(s, "${1}"+hidden)
	s = scheme.ReplaceAllString(s, "${1} "+hidden)
	s = webToken.ReplaceAllString(s, hidden)
	s = prefixedKey.ReplaceAllString(s, hidden)
	s = mailAddress.ReplaceAllString(s, hidden+"@"+hidden)
	return maskNumbers(s)
}

func maskSecret(s, secret string) string {
	if len(secret) < 4 {
		return s
	}
	b64 := base64.StdEncoding.EncodeToString([]byte(secret))
	for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), b64, strings.TrimRight(b64, "=")} {
		s = strings.ReplaceAll(s, form, hidden)
	}
	return s
}

// maskNumbers hides numbers of 7 to 19 digits that stand alone. Dates stay, and so do
// digits inside a longer word, such as an identifier.
func maskNumbers(s string) string {
	var b strings.Builder
	last := 0
	for _, at := range digits.FindAllStringIndex(s, -1) {
		from, to := at[0], at[1]
		number := s[from:to]
		if partOfWord(s, from, to) || isoDate.MatchString(number) || !looksPersonal(number) {
			continue
		}
		b.WriteString(s[last:from])
		b.WriteString(hidden + number[len(number)-2:])
		last = to
	}
	b.WriteString(s[last:])
	return b.String()
}

func partOfWord(s string, from, to int) bool {
	wordish := func(c byte) bool {
		return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	return from > 0 && (wordish(s[from-1]) || s[from-1] == '-' && from > 1 && wordish(s[from-2])) ||
		to < len(s) && wordish(s[to])
}

// looksPersonal: a card has 13 to 19 digits, a phone 9 to 15, or 7 with a plus sign.
func looksPersonal(number string) bool {
	n := 0
	for _, c := range number {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	if strings.HasPrefix(number, "+") {
		return n >= 7
	}
	return n >= 9 && n <= 19
}

// Excerpt gives the masked beginning of a body, at most ExcerptLimit bytes. It masks
// before it cuts, and drops the edge of what it did not look at whole.
func Excerpt(body []byte, secrets ...string) string {
	const looked, edge, mark = 3 * ExcerptLimit, 512, "…"
	cut := len(body) > looked
	if cut {
		body = body[:looked]
	}
	s := Mask(strings.ToValidUTF8(string(body), "\uFFFD"), secrets...)
	end := len(s)
	if cut {
		end = max(0, end-edge)
	}
	if end <= ExcerptLimit && !cut {
		return s
	}
	end = min(end, ExcerptLimit-len(mark))
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}

// keptHeaders are the ones that help to judge an answer. Cookies and credentials are
// not among them.
var keptHeaders = []string{
	"Content-Type", "Content-Length", "Content-Encoding", "Date", "Retry-After", "Location", "Idempotency-Key",
	"Idempotent-Replayed", "Request-Id", "X-Request-Id", "X-Message-Id", "X-Correlation-Id", "Server", "Cf-Ray",
}

// Headers gives the few headers that are kept as evidence, masked.
func Headers(h http.Header, secrets ...string) map[string]string {
	out := map[string]string{}
	for _, name := range keptHeaders {
		v := h.Get(name)
		switch {
		case v == "":
		case name == "Location":
			out[name] = Location(v, secrets...)
		default:
			out[name] = Excerpt([]byte(v), secrets...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Location shows where an answer points: user name and the values of the query are
// hidden, they often carry tokens.
func Location(raw string, secrets ...string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return Excerpt([]byte(raw), secrets...)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	shown := u.RawQuery
	u.RawQuery = ""
	out := u.String()
	if shown != "" {
		var names []string
		for part := range strings.SplitSeq(shown, "&") {
			name, _, _ := strings.Cut(part, "=")
			names = append(names, name+"="+hidden)
		}
		out += "?" + strings.Join(names, "&")
	}
	return Excerpt([]byte(out), secrets...)
}

// Proof turns an answer into the evidence that is kept.
func (a Answer) Proof(secrets ...string) operation.Proof {
	p := operation.Proof{
		Code: a.Code, Phase: a.Phase, Written: a.Written, Status: a.Status, Detail: Mask(a.Detail, secrets...),
		Header: Headers(a.Header, secrets...), Excerpt: Excerpt(a.Body, secrets...), Millis: a.Took.Milliseconds(),
	}
	p.Location = p.Header["Location"]
	return p
}
