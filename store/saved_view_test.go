package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func wantInvalid(t *testing.T, err error, code string) {
	t.Helper()
	var x *store.Invalid
	if !errors.As(err, &x) || x.Code != code {
		t.Errorf("%v, want %s", err, code)
	}
}

// TestSavedViews: one's own are seen and changed by oneself alone, shared ones by
// administrators, and a list opens with one view or none.
func TestSavedViews(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	own, err := s.SaveView(ctx, f.As("ops"), store.NewView{Name: "  Unknown ", Filters: "state=unknown", Default: true})
	ok(t, err)
	_, err = s.SaveView(ctx, f.As("ops"), store.NewView{Name: "UNKNOWN", Filters: "state=unknown"})
	wantInvalid(t, err, "view_taken")
	for code, n := range map[string]store.NewView{"name_missing": {Name: " ", Filters: "q=x"}, "view_empty": {Name: "x"}, "view_long": {Name: strings.Repeat("ü", 81), Filters: "q=x"}} {
		_, err = s.SaveView(ctx, f.As("ops"), n)
		wantInvalid(t, err, code)
	}
	_, err = s.SaveView(ctx, f.As("ops"), store.NewView{Name: "For all", Filters: "q=x", Shared: true})
	refused(t, err, operation.CodeNotEntitled)
	shared, err := s.SaveView(ctx, f.As("admin"), store.NewView{Name: "Unknown", Filters: "state=review", Shared: true})
	ok(t, err)

	views := func(who string) string {
		t.Helper()
		list, err := s.ListViews(ctx, f.As(who))
		ok(t, err)
		var out []string
		for _, v := range list {
			out = append(out, fmt.Sprint(v.Name, " ", v.Filters, " ", v.Shared, " ", v.Default))
		}
		return strings.Join(out, "; ")
	}
	want := func(who, w string) {
		t.Helper()
		if got := views(who); got != w {
			t.Errorf("%s sees %q, want %q", who, got, w)
		}
	}
	want("ops", "Unknown state=unknown false true; Unknown state=review true false")
	want("lead", "Unknown state=review true false")

	for what, err := range map[string]error{"rename": s.RenameView(ctx, f.As("lead"), own, "Mine"), "delete": s.DeleteView(ctx, f.As("lead"), own), "default": s.SetDefaultView(ctx, f.As("lead"), own)} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of somebody else's: %v", what, err)
		}
	}
	refused(t, s.RenameView(ctx, f.As("ops"), shared, "Mine"), operation.CodeNotEntitled)
	refused(t, s.DeleteView(ctx, f.As("ops"), shared), operation.CodeNotEntitled)
	ok(t, s.SetDefaultView(ctx, f.As("ops"), shared))
	ok(t, s.SetDefaultView(ctx, f.As("lead"), shared))
	want("ops", "Unknown state=unknown false false; Unknown state=review true true")
	ok(t, s.RenameView(ctx, f.As("ops"), own, "Unknown, all"))
	ok(t, s.RenameView(ctx, f.As("admin"), shared, "For review"))
	ok(t, s.DeleteView(ctx, f.As("admin"), shared)) // defaults go with it
	want("ops", "Unknown, all state=unknown false false")
	want("lead", "")
	ok(t, s.SetDefaultView(ctx, f.As("ops"), own))
	ok(t, s.SetDefaultView(ctx, f.As("ops"), ""))
	want("ops", "Unknown, all state=unknown false false")
	var actions []string
	for _, r := range whole(t, s, operation.SubjectSystem, "installation") {
		if strings.HasSuffix(r.Action, "_view") {
			actions = append(actions, r.Action)
		}
	}
	if got := strings.Join(actions, " "); got != "share_view rename_view remove_view" {
		t.Errorf("the history says %q", got)
	}

	// the database backs it on its own
	if _, err := f.Owner.Exec(`INSERT INTO default_views (user_id, view_id) VALUES ($1, $2)`, string(f.Users["lead"]), string(own)); err == nil || !strings.Contains(err.Error(), "somebody else") {
		t.Errorf("a default of somebody else's view: %v", err)
	}
	for i := range store.ViewLimit - 1 {
		_, err = s.SaveView(ctx, f.As("ops"), store.NewView{Name: fmt.Sprint("view ", i), Filters: "q=x"})
		ok(t, err)
	}
	_, err = s.SaveView(ctx, f.As("ops"), store.NewView{Name: "one more", Filters: "q=x"})
	wantInvalid(t, err, "view_many")
}
