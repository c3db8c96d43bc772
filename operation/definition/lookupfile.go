package definition

import (
	"time"

	"holdpoint/operation"
)

type lookup struct {
	request  *request
	by       string // by which of our references it finds; "" = by none of ours
	answered *expr
	none     *expr
	match    *expr
	more     *expr
	next     object // what changes in the query for the next page; none = one page is read
	pages    int    // at most so many are read
	id, url  template
	fits     *expr
	lag      time.Duration
}

type rawLookup struct {
	Request       rawRequest     `json:"request"`
	By            string         `json:"by"`
	Answered      expression     `json:"answered"`
	None          expression     `json:"none"`
	Match         expression     `json:"match"`
	More          expression     `json:"more"`
	Next          map[string]any `json:"next"`
	Pages         int            `json:"pages"`
	ID            expression     `json:"id"`
	URL           expression     `json:"url"`
	Fits          expression     `json:"fits"`
	Lag           duration       `json:"lag"`
	Authoritative bool           `json:"authoritative"`
}

func (r rawLookup) compile(a *Action, path string, p *problems) *lookup {
	l := &lookup{
		request:  r.Request.compile(scopeLookup, join(path, "request"), p),
		answered: compileRule(scopeAnswer, r.Answered, join(path, "answered"), p),
		none:     compileRule(scopeAnswer, r.None, join(path, "none"), p),
		match:    compileOne(scopeAnswer, r.Match, join(path, "match"), p),
		more:     compileRule(scopeAnswer, r.More, join(path, "more"), p),
		id:       compileValue(scopeMatch, r.ID, join(path, "id"), p),
		url:      compileValue(scopeMatchLink, r.URL, join(path, "url"), p),
		fits:     compileRule(scopeMatch, r.Fits, join(path, "fits"), p),
		lag:      time.Duration(r.Lag),
	}
	r.compilePages(l, path, p)
	if m := r.Request.Method; m != "GET" && m != "POST" {
		p.add(join(path, "request.method"), "a lookup only reads: GET, or POST for a search")
	}
	for _, name := range l.request.holes() {
		if _, ok := operation.HoleStage(name); ok {
			p.add(join(path, "request"), "a lookup has the holes {operation_id} and {key} only")
		}
	}
	a.Authoritative = r.Authoritative
	l.by = l.ownReference()
	if l.by != "" {
		l.by = or(r.By, l.by)
	}
	return l
}

// ownReference names the reference of ours that the lookup asks by or checks; "" when
// neither its request nor its match and fits rules use one.
func (l *lookup) ownReference() string {
	uses := map[string]bool{}
	note := func(e *expr) {
		for name := range e.names {
			uses[name] = true
		}
	}
	l.request.each(note)
	for _, e := range []*expr{l.match, l.fits} {
		if e != nil {
			note(e)
		}
	}
	for _, name := range l.request.holes() {
		uses[name] = true
	}
	for _, name := range []string{operation.HoleOperationID, operation.HoleKey} {
		if uses[name] {
			return name
		}
	}
	return ""
}

// DefaultPages is how many pages of a lookup are read where the profile says how to turn
// them and not how many.
const DefaultPages = 5

func (r rawLookup) compilePages(l *lookup, path string, p *problems) {
	if r.Next == nil {
		if r.Pages != 0 {
			p.add(join(path, "pages"), "without next there is one page")
		}
		return
	}
	l.pages = orInt(r.Pages, DefaultPages)
	l.next, _ = compileTree(scopeAnswer, r.Next, join(path, "next"), asWritten, p).(object)
	switch {
	case r.Request.Method != "GET":
		p.add(join(path, "next"), "pages are turned by the query of a GET")
	case l.more == nil:
		p.add(join(path, "next"), "it needs more, which tells whether a page follows")
	}
}
