package operation

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// A hole is a place in an approved request that is filled at dispatch with one
// declared, pattern-checked value. In the template it is the name between two
// private-use characters, which Normalize takes out of all input, so that no content
// can forge one. People see it as {name}.
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

// HoleTargetRef names the hole for an earlier stage's target reference.
func HoleTargetRef(stage string) string { return holeTargetRef + stage + ")" }

// HoleStage gives the stage of a target_ref hole; ok is false for other holes.
func HoleStage(name string) (stage string, ok bool) {
	rest, ok := strings.CutPrefix(name, holeTargetRef)
	return strings.TrimSuffix(rest, ")"), ok
}

// MarkHole gives the template text of a hole.
func MarkHole(name string) string { return HoleOpen + name + HoleClose }

var (
	declaredHole = regexp.MustCompile(`\{(operation_id|key|target_ref\([a-z0-9][a-z0-9-]{0,62}\))\}`)
	marker       = regexp.MustCompile(HoleOpen + `([^` + HoleOpen + HoleClose + `]*)` + HoleClose)
	encMarker    = regexp.MustCompile(`%EE%80%80((?:[^%]|%2[89])*?)%EE%80%81`)

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

// Holes lists the names of the holes of a request, each once.
func (r Request) Holes() []string {
	var names []string
	seen := map[string]bool{}
	r.each(func(s string) string {
		for _, re := range []*regexp.Regexp{marker, encMarker} {
			for _, m := range re.FindAllStringSubmatch(s, -1) {
				name, err := url.PathUnescape(m[1])
				if err == nil && !seen[name] {
					seen[name] = true
					names = append(names, name)
				}
			}
		}
		return s
	})
	return names
}

// Resolve fills every hole. A hole without a value, or a value that does not fit its
// pattern, is an error: nothing is sent then.
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
	out := r
	out.Header = append([]Header(nil), r.Header...)
	out.To = append([]string(nil), r.To...)
	out.each(func(s string) string {
		s = marker.ReplaceAllStringFunc(s, func(m string) string {
			return values[strings.Trim(m, HoleOpen+HoleClose)]
		})
		return encMarker.ReplaceAllStringFunc(s, func(m string) string {
			name, _ := url.PathUnescape(encMarker.FindStringSubmatch(m)[1])
			return url.QueryEscape(values[name])
		})
	})
	return out, nil
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

// each applies f to every text of the request and keeps what f returns.
func (r *Request) each(f func(string) string) {
	r.URL, r.Body, r.From = f(r.URL), f(r.Body), f(r.From)
	for i := range r.Header {
		r.Header[i].Value = f(r.Header[i].Value)
	}
	for i := range r.To {
		r.To[i] = f(r.To[i])
	}
}
