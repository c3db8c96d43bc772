package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// narrow leaves one of the people their roles for one flow only.
func narrow(t *testing.T, f *storetest.Fixture, short string, role operation.Role, flow string) {
	t.Helper()
	admin := f.Fresh(t, "admin")
	ok(t, f.Store.RevokeRole(t.Context(), admin, f.Users[short], store.RoleGrant{Role: role}, "narrower"))
	ok(t, f.Store.GrantRole(t.Context(), admin, f.Users[short], store.RoleGrant{Role: role, Flow: flow}, "narrower"))
}

// inReview gives a coupon whose outcome a person must settle.
func inReview(t *testing.T, f *storetest.Fixture) *stand {
	t.Helper()
	s := &stand{f: f, t: t, id: f.Ready(t)}
	s.send()
	s.report(mismatch)
	return s
}

// incident opens one over some operations.
func incident(t *testing.T, f *storetest.Fixture, who string, ids ...operation.ID) operation.IncidentID {
	t.Helper()
	id, err := f.Store.AddIncident(t.Context(), f.As(who), store.NewIncident{Title: "Coupons in doubt", Operations: ids, FormID: store.NewFormID()})
	ok(t, err)
	return id
}

func incidentAs(t *testing.T, f *storetest.Fixture, who string, id operation.IncidentID) *store.Incident {
	t.Helper()
	in, err := f.Store.FindIncident(t.Context(), f.As(who), id)
	ok(t, err)
	return in
}

func shownIncident(in *store.Incident) store.IncidentShown {
	return store.IncidentShown{ID: in.ID, Rev: in.Rev, FormID: store.NewFormID()}
}

// written is everything that a report needs before it can be signed.
var written = store.IncidentEdit{Title: "Coupons in doubt", Summary: "Answers were lost.", Class: operation.ClassOutage, Pattern: "Answer lost",
	Cause: "The destination was down.", Response: "We looked each one up.", Prevention: "Ask for a status page."}

func TestIncident(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx := t.Context()
	one, two := inReview(t, f), inReview(t, f)
	id := incident(t, f, "ops", one.id, two.id)
	in := incidentAs(t, f, "ops", id)

	t.Run("Scope", func(t *testing.T) {
		if s := in.Scope; s.Operations != 2 || s.Effects[operation.EffectDoubtful] != 2 || s.RecipientsNotNamed != 2 || s.Recipients != 0 {
			t.Errorf("scope %+v", s)
		}
	})
	t.Run("TimesFromHistory", func(t *testing.T) {
		p := in.Times
		if p.First.IsZero() || p.Last.Before(p.First) || p.Detected.Before(p.First) || !p.Settled.IsZero() {
			t.Errorf("times %+v", p)
		}
	})
	t.Run("TimelineIsGrouped", func(t *testing.T) {
		for _, l := range in.Timeline {
			if len(l.Group.Operations) != 2 {
				t.Errorf("%s to %s is of %d operations", l.Group.First.Action, l.Group.First.To, len(l.Group.Operations))
			}
		}
		if len(in.Timeline) < 2 || in.Timeline[0].Group.First.Action != "dispatch" {
			t.Errorf("timeline %+v", in.Timeline)
		}
	})
	t.Run("SameFormIsOneIncident", func(t *testing.T) {
		n := store.NewIncident{Title: "Twice", Operations: []operation.ID{one.id}, FormID: store.NewFormID()}
		a, err := f.Store.AddIncident(ctx, f.As("ops"), n)
		ok(t, err)
		b, err := f.Store.AddIncident(ctx, f.As("ops"), n)
		ok(t, err)
		if a != b || f.Count(t, "incidents WHERE title = 'Twice'") != 1 {
			t.Errorf("%s and %s", a, b)
		}
	})
	t.Run("SettledWhenTheLastLeftDoubt", func(t *testing.T) {
		one.must(f.Store.ConfirmDone(ctx, f.As("ops"), one.shown("seen there"), store.Reference{ID: "cpn_one"}))
		if !incidentAs(t, f, "ops", id).Times.Settled.IsZero() {
			t.Error("settled while one is in doubt")
		}
		two.must(f.Store.RecordDuplicate(ctx, f.As("ops"), two.shown("both are there"), []store.Reference{{ID: "cpn_a"}, {ID: "cpn_b"}}))
		now := incidentAs(t, f, "ops", id)
		if now.Times.Settled.IsZero() || now.Scope.Effects[operation.EffectConfirmed] != 2 || now.Scope.ConfirmedByPerson != 2 || now.Scope.DuplicateConfirmed != 1 {
			t.Errorf("%+v %+v", now.Times, now.Scope)
		}
	})
	t.Run("EveryChangeIsAnEntry", func(t *testing.T) {
		ok(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), written))
		ok(t, f.Store.AddLine(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), time.Now(), "We called the provider."))
		third := f.Ready(t)
		ok(t, f.Store.AddToIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), []operation.ID{third, one.id}))
		ok(t, f.Store.TakeFromIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), third, "It has nothing to do with it."))
		var actions []string
		for _, h := range whole(t, f.Store, operation.SubjectIncident, string(id)) {
			actions = append(actions, h.Action)
		}
		if want := []string{"open_incident", "edit_incident", "add_line", "add_operations", "take_operation"}; !slices.Equal(actions, want) {
			t.Errorf("%v, want %v", actions, want)
		}
	})
}

func TestIncidentTimelineIsChosen(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	id := incident(t, f, "ops", inReview(t, f).id, inReview(t, f).id)
	in := incidentAs(t, f, "ops", id)
	all, first := len(in.Timeline), in.Timeline[0].Group
	ok(t, f.Store.ChooseEntries(t.Context(), f.As("ops"), shownIncident(in), first.Entries))
	in = incidentAs(t, f, "ops", id)
	if len(in.Timeline) != all-1 || len(in.Omitted) != 1 || !slices.Equal(in.Omitted[0].Entries, first.Entries) {
		t.Errorf("%d lines, left out %+v", len(in.Timeline), in.Omitted)
	}
	if strings.Contains(in.Text, " dispatch ") {
		t.Error("what was left out is in the text that is signed")
	}
	ok(t, f.Store.ChooseEntries(t.Context(), f.As("ops"), shownIncident(in), nil))
	if in = incidentAs(t, f, "ops", id); len(in.Timeline) != all || len(in.Omitted) != 0 {
		t.Errorf("%d lines are back, want %d", len(in.Timeline), all)
	}
	ok(t, f.Store.AddLine(t.Context(), f.As("ops"), shownIncident(in), in.Timeline[0].At.Add(-time.Hour), "Our own words"))
	in = incidentAs(t, f, "ops", id)
	if in.Timeline[0].Says != "Our own words" || in.Timeline[0].By != "Oli Ops" {
		t.Errorf("first line %+v", in.Timeline[0])
	}
	ok(t, f.Store.RemoveLine(t.Context(), f.As("ops"), shownIncident(in), in.Timeline[0].ID))
	if in = incidentAs(t, f, "ops", id); len(in.Timeline) != all {
		t.Error("the line is still there")
	}
}

func TestIncidentEntitlement(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx := t.Context()
	coupon := inReview(t, f).id
	invoice := f.Receive(t, storetest.InvoiceEvent())[0]
	id := incident(t, f, "ops", coupon, invoice)
	narrow(t, f, "ops2", operation.RoleOpsOwner, "goodwill-invoice")
	narrow(t, f, "second", operation.RoleApprover, "plain-note")

	t.Run("OfOtherFlowsIsCountedNotShown", func(t *testing.T) {
		in := incidentAs(t, f, "ops2", id)
		if len(in.Operations) != 1 || in.Operations[0].ID != invoice || in.Hidden != 1 || in.Scope.Operations != 2 || in.Whole || in.Text != "" || in.Hash != "" {
			t.Errorf("%d shown, %d hidden, %+v", len(in.Operations), in.Hidden, in.Scope)
		}
		for _, l := range in.Timeline {
			if slices.Contains(l.Group.Operations, coupon) {
				t.Error("the timeline tells of an operation that is not shown")
			}
		}
	})
	t.Run("WhoSeesNoFlowFindsNothing", func(t *testing.T) {
		_, err := f.Store.FindIncident(ctx, f.As("second"), id)
		gone(t, err)
		_, err = f.Store.FindIncident(ctx, f.As("second"), "inc_01h2xcejqtf2nbrexx3vqjhp41")
		gone(t, err)
		list, err := f.Store.ListIncidents(ctx, f.As("second"), store.IncidentFilter{})
		ok(t, err)
		if len(list.Rows) != 0 {
			t.Errorf("%d incidents are listed", len(list.Rows))
		}
		in := incidentAs(t, f, "ops", id)
		gone(t, f.Store.EditIncident(ctx, f.As("second"), shownIncident(in), written))
	})
	t.Run("AnAuditorReads", func(t *testing.T) {
		in := incidentAs(t, f, "auditor", id)
		if !in.Whole || in.MayWrite || in.SignRole != "" {
			t.Errorf("whole %v, write %v, sign %q", in.Whole, in.MayWrite, in.SignRole)
		}
		refused(t, f.Store.EditIncident(ctx, f.As("auditor"), shownIncident(in), written), operation.CodeNotEntitled)
	})
	t.Run("SigningNeedsEveryFlow", func(t *testing.T) {
		ok(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), written))
		in := incidentAs(t, f, "ops", id)
		refused(t, f.Store.SignIncident(ctx, f.Fresh(t, "ops2"), shownIncident(in), in.Hash, ""), operation.CodeNotEntitled)
		refused(t, f.Store.SignIncident(ctx, f.Fresh(t, "lead"), shownIncident(in), in.Hash, ""), operation.CodeNotEntitled)
	})
	t.Run("ForeignOperationsAreNotTaken", func(t *testing.T) {
		_, err := f.Store.AddIncident(ctx, f.As("ops2"), store.NewIncident{Title: "x", Operations: []operation.ID{coupon, invoice}, FormID: store.NewFormID()})
		gone(t, err)
		p, err := f.Store.PickForIncident(ctx, f.As("ops2"), []operation.ID{coupon, invoice, "op_nothing"})
		ok(t, err)
		if len(p.Rows) != 1 || p.Rows[0].ID != invoice || p.Missing != 2 || !p.May {
			t.Errorf("%d rows, %d missing", len(p.Rows), p.Missing)
		}
	})
}

func TestIncidentTwoEditors(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	id := incident(t, f, "ops", inReview(t, f).id)
	in := incidentAs(t, f, "ops", id)
	errs := make([]error, 2)
	var both sync.WaitGroup
	for i, who := range []string{"ops", "ops2"} {
		both.Go(func() {
			e := written
			e.Cause = "as " + who + " sees it"
			errs[i] = f.Store.EditIncident(t.Context(), f.As(who), shownIncident(in), e)
		})
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), store.ErrChanged) {
		t.Errorf("one of two wins, the other is told: %v", errs)
	}
	t.Run("ADoubleClickIsOneChange", func(t *testing.T) {
		in := incidentAs(t, f, "ops", id)
		sh := shownIncident(in)
		e := written
		e.Summary = "once"
		ok(t, f.Store.EditIncident(t.Context(), f.As("ops"), sh, e))
		ok(t, f.Store.EditIncident(t.Context(), f.As("ops"), sh, e))
		if now := incidentAs(t, f, "ops", id); now.Rev != in.Rev+1 {
			t.Errorf("number %d, want %d", now.Rev, in.Rev+1)
		}
	})
}

func TestSignIncident(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx := t.Context()
	s := inReview(t, f)
	id := incident(t, f, "ops", s.id)
	ops := f.Fresh(t, "ops")

	in := incidentAs(t, f, "ops", id)
	invalid(t, f.Store.SignIncident(ctx, ops, shownIncident(in), in.Hash, ""), "text_missing")
	ok(t, f.Store.EditIncident(ctx, ops, shownIncident(in), written))
	in = incidentAs(t, f, "ops", id)
	if err := f.Store.SignIncident(ctx, f.As("ops"), shownIncident(in), in.Hash, ""); !errors.Is(err, store.ErrConfirm) {
		t.Errorf("without a fresh proof of the person: %v", err)
	}
	// an operation moves between the page and the press: another text
	stale := shownIncident(in)
	s.must(f.Store.ConfirmDone(ctx, f.As("ops"), s.shown("seen"), store.Reference{ID: "cpn_s"}))
	if err := f.Store.SignIncident(ctx, ops, stale, in.Hash, ""); !errors.Is(err, store.ErrChanged) {
		t.Errorf("signing what was not shown: %v", err)
	}
	in = incidentAs(t, f, "ops", id)
	ok(t, f.Store.SignIncident(ctx, ops, shownIncident(in), in.Hash, "Agreed."))

	signed := incidentAs(t, f, "ops", id)
	if signed.State != operation.IncidentSigned || len(signed.Signatures) != 1 {
		t.Fatalf("state %s, %d signatures", signed.State, len(signed.Signatures))
	}
	g := signed.Signatures[0]
	if g.Says != in.Text || g.By != "Oli Ops" || g.Role != operation.RoleOpsOwner || g.Comment != "Agreed." || g.Scope.Effects[operation.EffectConfirmed] != 1 {
		t.Errorf("%+v", g)
	}
	t.Run("NothingChangesAfterwardsButByARevision", func(t *testing.T) {
		e := written
		e.Cause = "something else"
		if err := f.Store.EditIncident(ctx, ops, shownIncident(signed), e); !errors.Is(err, store.ErrChanged) {
			t.Errorf("edit of a signed incident: %v", err)
		}
		invalid(t, f.Store.ReviseIncident(ctx, ops, shownIncident(signed), " "), "reason_missing")
		ok(t, f.Store.ReviseIncident(ctx, ops, shownIncident(signed), "The provider told us more."))
		ok(t, f.Store.EditIncident(ctx, ops, shownIncident(incidentAs(t, f, "ops", id)), e))
		now := incidentAs(t, f, "ops", id)
		if now.Revision != 2 || now.Signatures[0].Says != in.Text || now.Hash == in.Hash {
			t.Errorf("revision %d", now.Revision)
		}
		ok(t, f.Store.SignIncident(ctx, ops, shownIncident(now), now.Hash, ""))
	})
	t.Run("TheDatabaseKeepsWhatWasSigned", func(t *testing.T) {
		if _, err := f.Owner.Exec(`UPDATE incident_signatures SET says = 'x'`); err == nil {
			t.Error("a signed text was changed")
		}
		if _, err := f.Owner.Exec(`INSERT INTO incident_signatures SELECT incident_id, 9, says || 'x', hash, facts, signed_by, signed_name, signed_role, comment, signed_at FROM incident_signatures LIMIT 1`); err == nil {
			t.Error("a text with another hash was kept")
		}
	})
	whole(t, f.Store, operation.SubjectIncident, string(id))
}

func TestIncidentRecipients(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var ids []operation.ID
	for _, customer := range []string{"cus_7", "CUS_7", "cus_8"} {
		in := storetest.InvoiceEvent()
		in.Data["customer"] = customer
		ids = append(ids, f.Receive(t, in)[0])
	}
	ids = append(ids, f.Receive(t, storetest.CouponEvent())[0])
	id := incident(t, f, "ops", ids...)
	if s := incidentAs(t, f, "ops", id).Scope; s.Recipients != 2 || s.RecipientsNamed != 3 || s.RecipientsNotNamed != 1 || s.RecipientsNotStored != 0 {
		t.Errorf("%+v", s)
	}
	owner(t, f, `DELETE FROM version_bodies WHERE version_id = (SELECT version_id FROM operations WHERE id = $1)`, string(ids[2]))
	if s := incidentAs(t, f, "ops", id).Scope; s.Recipients != 1 || s.RecipientsNamed != 2 || s.RecipientsNotStored != 1 {
		t.Errorf("after an erasure: %+v", s)
	}
}

func TestListIncidents(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx := t.Context()
	first := incident(t, f, "ops", inReview(t, f).id)
	ok(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", first)), written))
	second := incident(t, f, "ops", f.Receive(t, storetest.InvoiceEvent())[0])
	e := written
	e.Title, e.Owner, e.Pattern = "Invoices", f.Users["lead"], "answer LOST"
	ok(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", second)), e))
	for name, c := range map[string]struct {
		f    store.IncidentFilter
		want []operation.IncidentID
	}{
		"all":         {store.IncidentFilter{}, []operation.IncidentID{second, first}},
		"flow":        {store.IncidentFilter{Flow: "goodwill-invoice"}, []operation.IncidentID{second}},
		"destination": {store.IncidentFilter{Destination: "billing"}, []operation.IncidentID{second, first}},
		"owner":       {store.IncidentFilter{Owner: f.Users["lead"]}, []operation.IncidentID{second}},
		"state":       {store.IncidentFilter{State: operation.IncidentSigned}, nil},
		"time":        {store.IncidentFilter{To: time.Now().Add(-time.Hour)}, nil},
		"number":      {store.IncidentFilter{Search: "inc-1"}, []operation.IncidentID{first}},
		"words":       {store.IncidentFilter{Search: "INVOICES"}, []operation.IncidentID{second}},
		"no pattern":  {store.IncidentFilter{Search: "%"}, nil},
	} {
		list, err := f.Store.ListIncidents(ctx, f.As("ops"), c.f)
		ok(t, err)
		var got []operation.IncidentID
		for _, r := range list.Rows {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	page, err := f.Store.ListIncidents(ctx, f.As("ops"), store.IncidentFilter{Limit: 1})
	ok(t, err)
	next, err := f.Store.ListIncidents(ctx, f.As("ops"), store.IncidentFilter{Limit: 1, Cursor: page.Next})
	ok(t, err)
	if page.Rows[0].ID != second || next.Rows[0].ID != first || next.Next != "" || next.Prev == "" {
		t.Errorf("pages %+v %+v", page, next)
	}
	if same := incidentAs(t, f, "ops", second).Similar; len(same) != 1 || same[0].ID != first || !same[0].SamePattern {
		t.Errorf("similar: %+v", same)
	}
}

// TestIncidentLibraryPattern chooses a pattern of the library as the cause: it is named
// wherever the incident is, and earlier incidents are found by it alone.
func TestIncidentLibraryPattern(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	ctx := t.Context()
	var both []operation.IncidentID
	for range 2 {
		id := incident(t, f, "ops", inReview(t, f).id)
		list, err := f.Store.PatternsOfIncident(ctx, f.As("ops"), id)
		ok(t, err)
		if len(list) != 1 {
			t.Fatalf("patterns %+v", list)
		}
		e := written
		e.Class, e.Pattern, e.PatternID = "", "", "pat_of_nobody"
		invalid(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), e), "mode_unknown")
		e.PatternID = list[0].ID
		ok(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", id)), e))
		if got := incidentAs(t, f, "ops", id).Library; got != list[0] || got.Destination != "billing" || got.Code == "" {
			t.Errorf("the incident names %+v, chosen was %+v", got, list[0])
		}
		both = append(both, id)
	}
	if same := incidentAs(t, f, "ops", both[1]).Similar; len(same) != 1 || same[0].ID != both[0] || !same[0].SamePattern || same[0].Library.ID == "" {
		t.Errorf("similar: %+v", same)
	}
	// who sees one of its flows only is not told of a pattern that may come from another
	two := incident(t, f, "ops", inReview(t, f).id, f.Receive(t, storetest.InvoiceEvent())[0])
	list, err := f.Store.PatternsOfIncident(ctx, f.As("ops"), two)
	ok(t, err)
	e := written
	e.PatternID = list[0].ID
	ok(t, f.Store.EditIncident(ctx, f.As("ops"), shownIncident(incidentAs(t, f, "ops", two)), e))
	narrow(t, f, "lead", operation.RoleApprover, "goodwill-invoice")
	if got := incidentAs(t, f, "lead", two).Library; got.ID != "" {
		t.Errorf("told of %+v", got)
	}
	rows, err := f.Store.ListIncidents(ctx, f.As("lead"), store.IncidentFilter{})
	ok(t, err)
	if len(rows.Rows) != 1 || rows.Rows[0].Library.ID != "" {
		t.Errorf("listed %+v", rows.Rows)
	}
}
