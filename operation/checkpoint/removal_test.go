package checkpoint

import (
	"testing"
	"time"

	"holdpoint/operation"
)

func TestRemovalOf(t *testing.T) {
	at := sample().At
	e := operation.Entry{SubjectKind: operation.SubjectSystem, Action: operation.ActionThinned, At: at, Links: map[string]string{operation.LinkThinned: "3,7-9", operation.LinkThinnedDays: "400"}}
	r, ok := RemovalOf(e)
	if !ok || !r.At.Equal(at) || r.Days != 400 || r.Entries.Count() != 4 || !r.Entries.Has(8) {
		t.Fatalf("%+v %v", r, ok)
	}
	if r.Fault(at.Add(-400*24*time.Hour)) != nil || r.Fault(at.Add(-400*24*time.Hour+time.Microsecond)) == nil {
		t.Error("it does not hold to its term")
	}
	for name, turn := range map[string]func(*operation.Entry){
		"another subject": func(e *operation.Entry) { e.SubjectKind = operation.SubjectOperation },
		"another action":  func(e *operation.Entry) { e.Action = "set_retention" },
		"no numbers":      func(e *operation.Entry) { e.Links = map[string]string{operation.LinkThinnedDays: "400"} },
		"bad numbers": func(e *operation.Entry) {
			e.Links = map[string]string{operation.LinkThinned: "9-3", operation.LinkThinnedDays: "400"}
		},
		"no term": func(e *operation.Entry) { e.Links = map[string]string{operation.LinkThinned: "3"} },
	} {
		x := e
		turn(&x)
		if r, ok := RemovalOf(x); ok && r.Entries.Count() > 0 {
			t.Errorf("%s: read as %+v", name, r)
		}
	}
}
