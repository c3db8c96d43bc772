package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestTwoTakers: of two who take the same case at once exactly one has it, and the other
// is told who.
func TestTwoTakers(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for range 10 {
		_, id := unknownCase(t, f)
		l, r := both(func() error { return f.Store.TakeCase(t.Context(), f.As("ops"), id, "", "") },
			func() error { return f.Store.TakeCase(t.Context(), f.As("ops2"), id, "", "") })
		if (l == nil) == (r == nil) {
			t.Fatalf("exactly one must have it: %v, %v", l, r)
		}
		lost := l
		if lost == nil {
			lost = r
		}
		refused(t, lost, operation.CodeCaseTaken)
		casesFit(t, f)
	}
}

func TestTakenCase(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s, id := unknownCase(t, f)
	before := s.shown("")
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops"), id, "", ""))
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops"), id, "", "")) // again changes nothing
	if n := f.Count(t, "history WHERE subject_id = $1 AND action = 'take_case'", string(s.id)); n != 1 {
		t.Errorf("%d entries of taking it", n)
	}
	t.Run("SomebodyElseIsRefused", func(t *testing.T) {
		sh := s.shown("seen there")
		refused(t, f.Store.ConfirmDone(t.Context(), f.As("ops2"), sh, store.Reference{ID: "x-1"}), operation.CodeCaseTaken)
		refused(t, f.Store.AnswerChecklist(t.Context(), f.As("ops2"), s.shown(""), store.Answers{{Item: operation.CheckKey, Yes: true}}), operation.CodeCaseTaken)
		refused(t, f.Store.ReleaseCase(t.Context(), f.As("ops2"), id), operation.CodeCaseNotTaken)
	})
	t.Run("TakingMakesNoFormOld", func(t *testing.T) {
		before.FormID, before.Reason = store.NewFormID(), ""
		ok(t, f.Store.AnswerChecklist(t.Context(), f.As("ops"), before, store.Answers{{Item: operation.CheckOperationID, Yes: true}}))
		before.FormID = store.NewFormID() // an answer does
		refused(t, f.Store.AnswerChecklist(t.Context(), f.As("ops"), before, store.Answers{{Item: operation.CheckKey, Yes: true}}), operation.CodeStaleRevision)
	})
	t.Run("TakenOverWithAReason", func(t *testing.T) {
		refused(t, f.Store.TakeCase(t.Context(), f.As("ops2"), id, "", "I am here"), operation.CodeCaseTaken) // it was free when they looked
		refused(t, f.Store.TakeCase(t.Context(), f.As("ops2"), id, f.Users["ops"], " "), operation.CodeReasonMissing)
		refused(t, f.Store.TakeCase(t.Context(), f.As("author"), id, f.Users["ops"], "let me"), operation.CodeNotEntitled)
		ok(t, f.Store.TakeCase(t.Context(), f.As("ops2"), id, f.Users["ops"], "Oli is on leave"))
		p, err := f.Store.FindCase(t.Context(), f.As("ops"), id)
		ok(t, err)
		if p.Case.TakenBy != f.Users["ops2"] || len(p.Holds) != 2 || p.Holds[0].Released == nil {
			t.Errorf("%+v %+v", p.Case, p.Holds)
		}
		casesFit(t, f)
	})
	whole(t, f.Store, operation.SubjectOperation, string(s.id))
}

// TestSecondPersonIsNotHeldUp: whoever has the case in hand, the second person decides,
// also when it changes hands under their eyes.
func TestSecondPersonIsNotHeldUp(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s, id := unknownCase(t, f)
	s.notDone(true)
	sh := s.shown("Which day did you search?")
	ok(t, f.Store.ReleaseCase(t.Context(), f.As("ops"), id))
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops"), id, "", ""))
	ok(t, f.Store.AskEvidence(t.Context(), f.Fresh(t, "ops2"), sh))
	if got := f.State(t, s.id); got != operation.Review {
		t.Fatalf("after a question the operation is %s", got)
	}
	if openCase(t, f, s.id) != id {
		t.Error("the case did not stay the same")
	}
	rows := whole(t, f.Store, operation.SubjectOperation, string(s.id))
	last := rows[len(rows)-1]
	if last.Links()["cause"] != "more_evidence" || last.Links()["asked_of"] != string(f.Users["ops"]) || last.Reason == "" {
		t.Errorf("the question is not on record: %+v", last)
	}
	ok(t, f.Store.RequestReexecution(t.Context(), f.As("ops"), s.shown("The whole of Monday and Tuesday.")))
	ok(t, f.Store.DecideReexecution(t.Context(), f.Fresh(t, "ops2"), s.shown("Good, once."), true))
	casesFit(t, f)
}

// TestForeignCase: of a flow that somebody has no role for there is no case.
func TestForeignCase(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	_, id := unknownCase(t, f)
	admin := f.As("admin")
	u, err := f.Store.AddUser(t.Context(), admin, store.NewUser{Email: "far@example.test", Name: "Far Away", Roles: []store.RoleGrant{{Role: operation.RoleOpsOwner, Flow: "campaign-follow-up"}}})
	ok(t, err)
	far := store.Person(u.User, "Far Away", "web")
	_, err = f.Store.FindCase(t.Context(), far, id)
	_, beat := f.Store.Beat(t.Context(), far, id, time.Second)
	for what, err := range map[string]error{"find": err, "take": f.Store.TakeCase(t.Context(), far, id, "", ""), "lookup": f.Store.AskLookup(t.Context(), far, id),
		"correct": f.Store.CorrectCase(t.Context(), far, id, operation.ClockActive, 0, "x"), "beat": beat} {
		if err == nil || err.Error() != store.ErrNotFound.Error() {
			t.Errorf("%s: %v, want not found", what, err)
		}
	}
	list, err := f.Store.ListCases(t.Context(), far, store.CaseFilter{})
	ok(t, err)
	if list.Total != 0 || len(list.Rows) != 0 {
		t.Errorf("%d cases of another flow are listed", list.Total)
	}
	if _, err := f.Store.NewQueue(t.Context(), far, "form", []operation.CaseID{id}); err == nil {
		t.Error("a queue of what they may not know of")
	}
}

// TestTakeoverIsTold: whoever had the case in hand is told once, and nobody else.
func TestTakeoverIsTold(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, id := unknownCase(t, f)
	plan := func() int {
		t.Helper()
		_, err := f.Store.PlanNotices(t.Context(), store.NoticeChannels{Mail: true})
		ok(t, err)
		return f.Count(t, "notices WHERE kind = 'case_taken'")
	}
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops"), id, "", ""))
	if n := plan(); n != 0 {
		t.Errorf("%d notices of taking a free case", n)
	}
	ok(t, f.Store.TakeCase(t.Context(), f.As("ops2"), id, f.Users["ops"], "Oli is on leave"))
	plan()
	if n := plan(); n != 1 || f.Count(t, "notices WHERE kind = 'case_taken' AND user_id = $1 AND subject = $2", string(f.Users["ops"]), string(s.id)) != 1 {
		t.Errorf("%d notices of the takeover", n)
	}
}
