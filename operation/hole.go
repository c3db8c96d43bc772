package operation

import (
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A hole is a place in an approved request that is filled at dispatch with one
// declared, pattern-checked value. In the template it is the name between two
// private-use characters, which Normalize takes out of all input, so that no content
// can forge one. In a URL and in a form body it may also stand percent-encoded: there
// every percent sign of content is itself encoded, so that content cannot forge that
// either. In any other place the encoded form is ordinary text. People see {name}.
const (
	HoleOpen  = "\uE000"
	HoleClose = "\uE001"
)

// The holes there are; HoleTargetRef takes a stage: target_ref(crm-task).
const (
	HoleOperationID = "operation_id"
	HoleKey         = "key"
	holeTargetRef   = "target_ref("
)

// encodedOpen is HoleOpen, percent-encoded.
const encodedOpen = "%EE%80%80"

// HoleTargetRef names the hole for an earlier stage's target reference.
func HoleTargetRef(stage string) string { return holeTargetRef + stage + ")" }

// HoleStage gives the stage of a target_ref hole; ok is false for other holes.
func HoleStage(name string) (stage string, ok bool) {
	rest, ok := strings.CutPrefix(name, holeTargetRef)
	if !ok {
		return "", false
	}
	stage, ok = strings.CutSuffix(rest, ")")
	if !ok || !stageName.MatchString(stage) {
		return "", false
	}
	return stage, true
}

// MarkHole gives the template text of a hole.
func MarkHole(name string) string { return HoleOpen + name + HoleClose }

var (
	stageName    = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	declaredHole = regexp.MustCompile(`\{(operation_id|key|target_ref\([a-z0-9][a-z0-9-]{0,62}\))\}`)
	marker       = regexp.MustCompile(HoleOpen + `([^` + HoleOpen + HoleClose + `]*)` + HoleClose)
	encMarker    = regexp.MustCompile(encodedOpen + `((?:[^%]|%2[89])*?)%EE%80%81`)
	bothMarkers  = []*regexp.Regexp{marker, encMarker}
	strayEncoded = regexp.MustCompile(`(?i)%EE%80%8[01]`)

	holePattern = map[string]*regexp.Regexp{
		HoleOperationID: regexp.MustCompile(`^op_[0-9a-z]{26}$`),
		HoleKey:         regexp.MustCompile(`^op_[0-9a-z]{26}(-g[0-9]{1,4})?$`),
	}
	targetRefPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,254}$`)
)

// DeclareHoles turns {operation_id}, {key} and {target_ref(stage)} in a profile's or
// flow's own literal text into holes. Never call it on content.
func DeclareHoles(literal string) string {
	return declaredHole.ReplaceAllString(literal, HoleOpen+"$1"+HoleClose)
}

// ShowHoles shows holes as people read them: {name}.
func ShowHoles(s string) string {
	return strings.NewReplacer(HoleOpen, "{", HoleClose, "}").Replace(s)
}

// place says how a text of a request travels, and so how a hole's value is written.
type place int

const (
	placePlain place = iota
	placeForm        // a form body: values are form-encoded
	placeURL         // values are escaped for path or query
)

// texts visits every text of a request that may hold a hole, and writes nothing.
func (r Request) texts(visit func(place, string)) {
	visit(placeURL, r.URL)
	visit(r.bodyPlace(), r.Body)
	visit(placePlain, r.From)
	for _, h := range r.Header {
		visit(placePlain, h.Value)
	}
	for _, to := range r.To {
		visit(placePlain, to)
	}
}

const formType = "application/x-www-form-urlencoded"

func (r Request) bodyPlace() place {
	for _, h := range r.Header {
		if !strings.EqualFold(h.Name, "Content-Type") || len(h.Value) < len(formType) {
			continue
		}
		if kind, _, err := mime.ParseMediaType(h.Value); err == nil && kind == formType {
			return placeForm
		}
	}
	return placePlain
}

// Holes lists the names of the holes of a request, each once, in the order in which
// they stand. It does not write to the request.
func (r Request) Holes() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	r.texts(func(p place, s string) {
		for _, name, rest, ok := cutMark(s); ok; _, name, rest, ok = cutMark(rest) {
			add(name)
		}
		if p == placePlain || !strings.Contains(s, encodedOpen) {
			return
		}
		for _, m := range encMarker.FindAllStringSubmatch(s, -1) {
			name, _ := url.PathUnescape(m[1])
			add(name)
		}
	})
	return names
}

// cutMark cuts a text around its first mark of a hole, as marker finds it; without one,
// all of it stands before.
func cutMark(s string) (before, name, rest string, ok bool) {
	for at := 0; ; {
		open := strings.Index(s[at:], HoleOpen)
		if open < 0 {
			return s, "", "", false
		}
		open += at
		at = open + len(HoleOpen)
		end := strings.IndexAny(s[at:], HoleOpen+HoleClose)
		if end < 0 {
			return s, "", "", false
		}
		if name = s[at : at+end]; strings.HasPrefix(s[at+end:], HoleClose) {
			return s[:open], name, s[at+end+len(HoleClose):], true
		}
		at += end
	}
}

// markersIn gives the marks of holes that may stand in a text.
func markersIn(s string, p place) []*regexp.Regexp {
	raw, encoded := strings.Contains(s, HoleOpen), p != placePlain && strings.Contains(s, encodedOpen)
	switch {
	case raw && encoded:
		return bothMarkers
	case raw:
		return bothMarkers[:1]
	case encoded:
		return bothMarkers[1:]
	}
	return nil
}

// Resolve fills every hole. A hole without a value, a value that does not fit its
// pattern, a hole where none may stand (host, method, header name), a mark that is no
// hole, and text that cannot travel (see Check) are errors: nothing is sent then.
func (r Request) Resolve(values map[string]string) (Request, error) {
	for _, name := range r.Holes() {
		v, ok := values[name]
		if !ok {
			return Request{}, fmt.Errorf("hole {%s} has no value", name)
		}
		if !holeFits(name, v) {
			return Request{}, fmt.Errorf("value of hole {%s} does not fit its pattern", name)
		}
	}
	if hasMark(hostOf(r.URL), placeURL) {
		return Request{}, fmt.Errorf("a hole may not stand in the address of a host")
	}
	out := r
	out.Header = slices.Clone(r.Header)
	out.To = slices.Clone(r.To)
	out.URL = fill(r.URL, placeURL, values)
	out.Body = fill(r.Body, r.bodyPlace(), values)
	out.From = fill(r.From, placePlain, values)
	for i := range out.Header {
		out.Header[i].Value = fill(out.Header[i].Value, placePlain, values)
	}
	for i := range out.To {
		out.To[i] = fill(out.To[i], placePlain, values)
	}
	if err := out.checkNoMarks(); err != nil {
		return Request{}, err
	}
	return out, out.Check()
}

// fill writes the values of one text. In a URL and in a form body everything that could
// end a segment or a value is percent-encoded.
func fill(s string, p place, values map[string]string) string {
	write := func(v string) string { return v }
	if p != placePlain {
		write = url.QueryEscape
	}
	if before, name, rest, ok := cutMark(s); ok {
		var b strings.Builder
		b.Grow(len(s) + 64)
		for ; ok; before, name, rest, ok = cutMark(rest) {
			b.WriteString(before)
			b.WriteString(write(values[name]))
		}
		b.WriteString(before)
		s = b.String()
	}
	if p == placePlain || !strings.Contains(s, encodedOpen) {
		return s
	}
	return encMarker.ReplaceAllStringFunc(s, func(m string) string {
		name, _ := url.PathUnescape(encMarker.FindStringSubmatch(m)[1])
		return write(values[name])
	})
}

// hostOf gives everything before the path.
func hostOf(u string) string {
	_, rest, ok := strings.Cut(u, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return u[:len(u)-len(rest)+i]
	}
	return u
}

// checkNoMarks refuses a request in which a mark of a hole is left.
func (r Request) checkNoMarks() error {
	left := hasMark(r.Method, placePlain) || hasMark(string(r.Kind), placePlain)
	r.texts(func(p place, s string) {
		left = left || hasMark(s, p)
	})
	for _, h := range r.Header {
		left = left || hasMark(h.Name, placePlain)
	}
	if left {
		return fmt.Errorf("the request holds the mark of a hole that is none")
	}
	return nil
}

// hasMark reports a mark of a hole in a text, or half of one.
func hasMark(s string, p place) bool {
	return strings.Contains(s, HoleOpen) || strings.Contains(s, HoleClose) ||
		p != placePlain && strings.Contains(s, "%80%8") && strayEncoded.MatchString(s)
}

func holeFits(name, v string) bool {
	if re, ok := holePattern[name]; ok {
		return re.MatchString(v)
	}
	if _, ok := HoleStage(name); ok {
		return targetRefPattern.MatchString(v) && !strings.Contains(v, "..")
	}
	return false
}
