package operation

import (
	"net/url"
	"slices"
	"strings"
)

// FilledBy reads from a request that left what the holes of its template r were filled
// with, and then fills them again: ok reports that exactly the request that left follows.
func (r Request) FilledBy(sent Request) (values map[string]string, ok bool) {
	if len(r.Header) != len(sent.Header) || len(r.To) != len(sent.To) {
		return nil, false
	}
	values = map[string]string{}
	ok = readFills(r.URL, sent.URL, placeURL, values) && readFills(r.Body, sent.Body, r.bodyPlace(), values) &&
		readFills(r.From, sent.From, placePlain, values)
	for i := range r.Header {
		ok = ok && readFills(r.Header[i].Value, sent.Header[i].Value, placePlain, values)
	}
	for i := range r.To {
		ok = ok && readFills(r.To[i], sent.To[i], placePlain, values)
	}
	if !ok {
		return nil, false
	}
	again, err := r.Resolve(values)
	if err != nil {
		return nil, false
	}
	a, errA := again.Hash()
	b, errB := sent.Hash()
	return values, errA == nil && errB == nil && a == b
}

// maxFill is the most bytes that a hole's value takes, escaped; see holeFits.
const maxFill = 1024

// readFills reads the values of one text's holes. It may misread a text that no holes
// could have given; FilledBy fills them again and compares.
func readFills(template, sent string, p place, into map[string]string) bool {
	hits := holesIn(template, p)
	at := 0
	for i, h := range hits {
		var ok bool
		if sent, ok = strings.CutPrefix(sent, template[at:h.start]); !ok {
			return false
		}
		at = h.end
		end := len(template)
		if i+1 < len(hits) {
			end = hits[i+1].start
		}
		length := len(sent)
		if next := template[at:end]; next != "" {
			length = strings.Index(sent[:min(len(sent), maxFill+len(next))], next)
		}
		if length < 0 || length > maxFill {
			return false
		}
		value := sent[:length]
		if sent = sent[length:]; p != placePlain {
			var err error
			if value, err = url.QueryUnescape(value); err != nil {
				return false
			}
		}
		if was, known := into[h.name]; known && was != value {
			return false
		}
		into[h.name] = value
	}
	return sent == template[at:]
}

// holeAt is one hole's place in a template.
type holeAt struct {
	start, end int
	name       string
}

func holesIn(template string, p place) []holeAt {
	var hits []holeAt
	for _, re := range markersIn(template, p) {
		for _, m := range re.FindAllStringSubmatchIndex(template, -1) {
			name := template[m[2]:m[3]]
			if re == encMarker {
				name, _ = url.PathUnescape(name)
			}
			hits = append(hits, holeAt{m[0], m[1], name})
		}
	}
	slices.SortFunc(hits, func(a, b holeAt) int { return a.start - b.start })
	return hits
}
