package definition

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
)

const paged = minimal + `    lookup:
      request: {method: GET, path: /events, query: {limit: 2, type: made}}
      match: ${body.data.filter(e, e.key == key)}
      more: ${body.has_more}
      next: {starting_after: "${body.data[size(body.data) - 1].id}"}
      pages: 3
      id: ${match.id}
`

func pagedAction(t *testing.T) *Action {
	t.Helper()
	p, err := ParseProfile("p.yaml", []byte(paged))
	if err != nil {
		t.Fatal(err)
	}
	return p.Actions["act"]
}

// page is an answer with two entries; ours names which of them are ours.
func page(n int, more bool, ours ...int) Answer {
	var data []string
	for i := range 2 {
		key := "other"
		for _, o := range ours {
			if o == i {
				key = opID
			}
		}
		data = append(data, fmt.Sprintf(`{"id":"e%d","key":%q}`, 2*n+i, key))
	}
	return Answer{Status: 200, Body: []byte(fmt.Sprintf(`{"has_more":%v,"data":[%s]}`, more, strings.Join(data, ",")))}
}

// readAll turns the pages as a connector does, and lists the queries that were asked.
func readAll(t *testing.T, a *Action, pages []Answer) (operation.LookupFinding, []string) {
	t.Helper()
	about := in(nil)
	req, err := a.LookupRequest(about, demoEnv)
	if err != nil {
		t.Fatal(err)
	}
	var found []operation.LookupFinding
	var asked []string
	for more := true; more; {
		u, err := url.Parse(req.URL)
		if err != nil {
			t.Fatal(err)
		}
		asked = append(asked, u.Query().Get("starting_after"))
		ans := pages[len(found)]
		found = append(found, a.ReadLookup(about, ans))
		req, more = a.NextLookup(about, req, ans, len(found))
	}
	return AcrossPages(found), asked
}

func TestLookupTurnsPages(t *testing.T) {
	a := pagedAction(t)
	for name, c := range map[string]struct {
		pages  []Answer
		result operation.LookupResult
		id     string
		asked  string
	}{
		"on the first page":        {[]Answer{page(0, false, 1)}, operation.LookupOne, "e1", ""},
		"on the third page":        {[]Answer{page(0, true), page(1, true), page(2, false, 0)}, operation.LookupOne, "e4", ",e1,e3"},
		"on two pages":             {[]Answer{page(0, true, 0), page(1, false, 0)}, operation.LookupMany, "", ",e1"},
		"nowhere":                  {[]Answer{page(0, true), page(1, false)}, operation.LookupNone, "", ",e1"},
		"beyond the bound":         {[]Answer{page(0, true), page(1, true), page(2, true), page(3, false, 0)}, operation.LookupUnreachable, "", ",e1,e3"},
		"the second is unreadable": {[]Answer{page(0, true), {Status: 500, Body: []byte(`{}`)}}, operation.LookupUnreachable, "", ",e1"},
		"the second is cut":        {[]Answer{page(0, true), {Status: 200, Body: []byte(`{`), Truncated: true}}, operation.LookupUnreachable, "", ",e1"},
		"a page without an end":    {[]Answer{page(0, true), page(0, true)}, operation.LookupUnreachable, "", ",e1"},
	} {
		t.Run(name, func(t *testing.T) {
			f, asked := readAll(t, a, c.pages)
			if f.Result != c.result || f.ID != c.id || strings.Join(asked, ",") != c.asked {
				t.Errorf("%s %q, asked %q; %+v", f.Result, f.ID, asked, f)
			}
			if f.Result == operation.LookupMany && len(f.Found) != 2 {
				t.Errorf("found %v", f.Found)
			}
		})
	}
}

func TestLookupPagesAreChecked(t *testing.T) {
	for part, c := range map[string][2]string{
		"actions.act.lookup.next":  {"      more: ${body.has_more}\n", ""},
		"actions.act.lookup.pages": {"      next: {starting_after: \"${body.data[size(body.data) - 1].id}\"}\n", ""},
	} {
		_, err := ParseProfile("p.yaml", []byte(strings.Replace(paged, c[0], c[1], 1)))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", part, err)
		}
	}
}
