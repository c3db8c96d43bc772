package definition

import (
	"fmt"
	"net/url"

	"holdpoint/operation"
)

// NextLookup gives the request for the page after ans, when more pages follow and the
// profile says how to turn them; read is how many pages were read. ok is false at the
// end, at the profile's bound, and when the page does not name a next one.
func (a *Action) NextLookup(in Context, asked operation.Request, ans Answer, read int) (next operation.Request, ok bool) {
	l := a.lookup
	if l == nil || len(l.next.names) == 0 || read >= l.pages || ans.Truncated {
		return next, false
	}
	vars := in.variables(ans)
	if more, err := l.more.holds(vars); err != nil || !more {
		return next, false
	}
	u, err := url.Parse(asked.URL)
	if err != nil {
		return next, false
	}
	query, turned := u.Query(), false
	for _, name := range l.next.names {
		ps, err := l.next.of[name].pieces(vars)
		if err != nil {
			return next, false
		}
		v := joinPieces(ps)
		if v == "" {
			return next, false
		}
		turned = turned || query.Get(name) != v
		query.Set(name, v)
	}
	u.RawQuery = query.Encode()
	next = asked
	next.URL = u.String()
	return next, turned
}

// AcrossPages joins what the pages of one lookup gave, in their order. Matches count
// together. Nothing found is what the last page says: a miss at the end of the list, or
// unreachable where pages were left unread.
func AcrossPages(pages []operation.LookupFinding) operation.LookupFinding {
	if len(pages) == 1 {
		return pages[0]
	}
	var found []operation.Found
	var hit operation.LookupFinding
	for _, f := range pages {
		switch f.Result {
		case operation.LookupOne, operation.LookupMismatch:
			hit, found = f, append(found, operation.Found{ID: f.ID, URL: f.URL})
		case operation.LookupMany:
			hit, found = f, append(found, f.Found...)
		}
	}
	switch last := pages[len(pages)-1]; len(found) {
	case 0:
		last.Proof.Detail = joinSentences(last.Proof.Detail, fmt.Sprintf("%d pages were read.", len(pages)))
		return last
	case 1:
		return hit
	}
	hit.Result, hit.ID, hit.URL, hit.Found = operation.LookupMany, "", "", found
	return hit
}

func joinSentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}
