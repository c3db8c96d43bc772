package store_test

import (
	"errors"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// tell brings one entry as a callback does: received, then tied as far as it is known.
func tell(t *testing.T, f *storetest.Fixture, p store.Place, account string, entries ...definition.News) []store.NewsID {
	t.Helper()
	for i := range entries {
		if entries[i].Item == "" {
			entries[i].Item = `{"event":"` + string(entries[i].Kind) + `"}`
		}
	}
	ids, err := f.Store.ReceiveNews(t.Context(), store.NewsPost{Destination: p.Destination, Account: account, Entries: entries})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.TieNews(t.Context(), store.System("api"), ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

// mailed brings a mail, which two people approve, into a state.
func mailed(t *testing.T, f *storetest.Fixture, state operation.State) *stand {
	t.Helper()
	ops := f.Receive(t, storetest.CampaignEvent())
	first := &stand{f: f, t: t, id: ops[0]}
	f.Approve(t, first.id, "lead")
	first.send()
	first.report(effect(ref(first.id)))
	s := &stand{f: f, t: t, id: ops[1]}
	s.must(f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: s.id, Submit: true, Author: author(f),
		Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": "Thank you."}}))
	f.Approve(t, s.id, "lead", "second")
	s.send()
	switch state {
	case operation.Confirmed:
		s.report(effect(ref(s.id)))
	case operation.Unknown:
		s.report(lost)
	}
	return s
}

type fate struct {
	State, Delivery, Remedy, Duplicate string
}

func lookAt(t *testing.T, f *storetest.Fixture, id operation.ID) (o fate) {
	t.Helper()
	if err := f.Owner.QueryRow(`SELECT state, delivery, remedy, duplicate FROM operations WHERE id = $1`, string(id)).Scan(&o.State, &o.Delivery, &o.Remedy, &o.Duplicate); err != nil {
		t.Fatal(err)
	}
	return o
}

func newsState(t *testing.T, f *storetest.Fixture, id store.NewsID) (state string) {
	t.Helper()
	if err := f.Owner.QueryRow(`SELECT state FROM news WHERE id = $1`, string(id)).Scan(&state); err != nil {
		t.Fatal(err)
	}
	return state
}

// FC-40: accepted is not delivered; news may come early, late, twice and out of order, and
// never leads back.
func TestFieldCase40_NewsInAnyOrder(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	const mails = "mail-demo"
	for name, x := range map[string]struct {
		kinds []operation.NewsKind
		want  fate
	}{
		"in order":             {[]operation.NewsKind{"accepted", "delivered"}, fate{"confirmed", "delivered", "", ""}},
		"out of order":         {[]operation.NewsKind{"delivered", "accepted", "deferred"}, fate{"confirmed", "delivered", "", ""}},
		"deferred only":        {[]operation.NewsKind{"deferred"}, fate{"confirmed", "accepted", "", ""}},
		"dropped":              {[]operation.NewsKind{"accepted", "dropped"}, fate{"confirmed", "dropped", "dropped", ""}},
		"bounced late":         {[]operation.NewsKind{"delivered", "bounced", "delivered"}, fate{"confirmed", "bounced", "bounced", ""}},
		"complained":           {[]operation.NewsKind{"complained", "delivered", "accepted"}, fate{"confirmed", "complained", "complained", ""}},
		"denied stays":         {[]operation.NewsKind{"contradiction"}, fate{"confirmed", "accepted", "denied", ""}},
		"plain says nothing":   {[]operation.NewsKind{"news", "news"}, fate{"confirmed", "accepted", "", ""}},
		"denied and delivered": {[]operation.NewsKind{"contradiction", "delivered"}, fate{"confirmed", "delivered", "denied", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := mailed(t, f, operation.Confirmed)
			p, err := f.Store.PlaceOf(t.Context(), s.id)
			s.must(err)
			for i, k := range x.kinds {
				n := definition.News{Key: string(s.id) + string(k), Kind: k, Operation: s.id, Reference: ref(s.id)}
				ids := tell(t, f, p, mails, n)
				again := tell(t, f, p, mails, n)
				first := i == 0 || x.kinds[i-1] != k && (i < 2 || x.kinds[i-2] != k)
				if first != (len(ids) == 1) || len(again) != 0 {
					t.Errorf("%s: %d new, again %d", k, len(ids), len(again))
				}
			}
			if got := lookAt(t, f, s.id); got != x.want {
				t.Errorf("%+v, want %+v", got, x.want)
			}
		})
	}
}

// News that comes before the attempt's outcome is recorded confirms it; the outcome is
// then late evidence and no second effect.
func TestNewsBeforeTheOutcome(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.InProgress)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	tell(t, f, p, "mail-demo", definition.News{Key: "e1", Kind: operation.NewsDelivered, Operation: s.id, Reference: ref(s.id)})
	want := fate{"confirmed", "delivered", "", ""}
	if got := lookAt(t, f, s.id); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	s.report(effect(ref(s.id)))
	if got := lookAt(t, f, s.id); got != want {
		t.Errorf("after the report: %+v, want %+v", got, want)
	}
}

// News that names only the destination's own reference waits until that is known.
func TestNewsWaitsForItsReference(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.InProgress)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	ids := tell(t, f, p, "mail-demo", definition.News{Key: "e1", Kind: operation.NewsBounced, Reference: ref(s.id)})
	if newsState(t, f, ids[0]) != "waiting" {
		t.Fatal("news without a known reference does not wait")
	}
	if n, err := f.Store.SweepNews(t.Context(), store.System("job"), false); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	s.report(effect(ref(s.id)))
	if n, err := f.Store.SweepNews(t.Context(), store.System("job"), false); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got, want := lookAt(t, f, s.id), (fate{"confirmed", "bounced", "bounced", ""}); got != want || newsState(t, f, ids[0]) != "tied" {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// News of one destination or account never touches an operation of another.
func TestNewsOfAnotherPlace(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.Confirmed)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	before := lookAt(t, f, s.id)
	other := p
	other.Destination = "smtp"
	ids := tell(t, f, other, "mail-demo", definition.News{Key: "e1", Kind: operation.NewsBounced, Operation: s.id}, definition.News{Key: "e2", Kind: operation.NewsBounced, Reference: ref(s.id)})
	ids = append(ids, tell(t, f, p, "another-account", definition.News{Key: "e1", Kind: operation.NewsBounced, Operation: s.id}, definition.News{Key: "e2", Kind: operation.NewsBounced, Reference: ref(s.id)})...)
	if len(ids) != 4 {
		t.Fatal(ids)
	}
	for _, id := range ids {
		if err := f.Store.TieNewsByHand(t.Context(), f.As("ops"), id, s.id, "form", "it is ours"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("tied by hand: %v", err)
		}
		if newsState(t, f, id) != "waiting" {
			t.Error("it does not wait")
		}
	}
	if got := lookAt(t, f, s.id); got != before {
		t.Errorf("touched: %+v, was %+v", got, before)
	}
	// the database holds it by itself
	if _, err := f.Owner.Exec(`UPDATE news SET state = 'tied', operation_id = $2, settled_at = now() WHERE id = $1`, string(ids[0]), string(s.id)); err == nil {
		t.Error("the database ties it")
	}
}

// An effect that appears after a person said that there is none brings the operation back.
func TestNewsReopensAContradiction(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for _, state := range []operation.State{operation.Cancelled, operation.NotExecuted} {
		s := &stand{f: f, t: t, id: coupon(t, f)()}
		ways[state](s)
		p, err := f.Store.PlaceOf(t.Context(), s.id)
		s.must(err)
		tell(t, f, p, "acct_demo", definition.News{Key: string(s.id), Kind: operation.NewsEffect, Operation: s.id, Reference: ref(s.id)})
		if got := lookAt(t, f, s.id); got.State != "review" {
			t.Errorf("%s: %+v", state, got)
		}
	}
}

// Two of one operation: an accepted effect with another reference is a second one.
func TestNewsOfASecondEffect(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.Confirmed)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	tell(t, f, p, "mail-demo", definition.News{Key: "e1", Kind: operation.NewsAccepted, Operation: s.id, Reference: "another"})
	if got := lookAt(t, f, s.id); got.State != "confirmed" || got.Duplicate != "suspected" || got.Remedy != "duplicate" {
		t.Errorf("%+v", got)
	}
}

func TestNewsByHand(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.Unknown)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	ids := tell(t, f, p, "mail-demo", definition.News{Key: "e1", Kind: operation.NewsDelivered, Reference: "queue-7"}, definition.News{Key: "e2", Kind: operation.NewsPlain})
	tie := func(who, form, reason string) error {
		return f.Store.TieNewsByHand(t.Context(), f.As(who), ids[0], s.id, form, reason)
	}
	if err := tie("ops", "f1", " "); err == nil {
		t.Error("tied without a reason")
	}
	var refusal *operation.Refusal
	if err := tie("author", "f1", "mine"); !errors.As(err, &refusal) || refusal.Code != operation.CodeNotEntitled {
		t.Errorf("an author ties: %v", err)
	}
	s.must(tie("ops", "f1", "the queue's number is in the log"))
	s.must(tie("ops", "f1", "the queue's number is in the log")) // the same form
	if err := tie("ops2", "f2", "me too"); !errors.As(err, &refusal) || refusal.Code != operation.CodeAlreadyDecided {
		t.Errorf("tied twice: %v", err)
	}
	if got, want := lookAt(t, f, s.id), (fate{"confirmed", "delivered", "", ""}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	var by string
	if err := f.Owner.QueryRow(`SELECT confirmed_by FROM operations WHERE id = $1`, string(s.id)).Scan(&by); err != nil || by != "person" {
		t.Errorf("confirmed by %q, %v", by, err)
	}
	if err := f.Store.PutNewsAside(t.Context(), f.As("lead"), ids[1], "f3", "no"); err == nil {
		t.Error("an approver puts news aside")
	}
	s.must(f.Store.PutNewsAside(t.Context(), f.As("ops"), ids[1], "f3", "another system's mail"))
	s.must(f.Store.PutNewsAside(t.Context(), f.As("ops"), ids[1], "f3", "another system's mail"))
	n := 0
	if err := f.Owner.QueryRow(`SELECT count(*) FROM history WHERE subject_kind = 'destination' AND subject_id = $1 AND action = 'news_aside'`, p.Destination).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d entries, %v", n, err)
	}
	list, err := f.Store.ListNews(t.Context(), f.As("ops"), store.NewsFilter{State: store.NewsAside, Search: "e2"})
	if err != nil || len(list.Rows) != 1 || list.Rows[0].SettledBy == "" {
		t.Errorf("%+v %v", list, err)
	}
}

func TestNewsTerm(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	p := store.Place{Destination: "mail"}
	ids := tell(t, f, p, "mail-demo", definition.News{Key: "old", Kind: operation.NewsPlain}, definition.News{Key: "new", Kind: operation.NewsPlain})
	// a week passes for one: the guard stands aside for the test only
	for _, q := range []string{`ALTER TABLE news DISABLE TRIGGER news_kept`, `UPDATE news SET received_at = received_at - interval '8 days' WHERE news_key = 'old'`, `ALTER TABLE news ENABLE TRIGGER news_kept`} {
		if _, err := f.Owner.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := f.Store.SweepNewsTerm(t.Context(), store.System("job")); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if newsState(t, f, ids[0]) != "aside" || newsState(t, f, ids[1]) != "waiting" {
		t.Error("the wrong one was put aside")
	}
	if _, err := f.Owner.Exec(`DELETE FROM news`); err == nil {
		t.Error("news can be deleted")
	}
	if _, err := f.Owner.Exec(`UPDATE news SET kind = 'delivered'`); err == nil {
		t.Error("news can be changed")
	}
}

// A token is taken once with one body (Mailgun).
func TestNewsTokens(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	post := func(token, body string) error {
		_, err := f.Store.ReceiveNews(t.Context(), store.NewsPost{Destination: "mail", Account: "mail-demo", Token: token, TokenUntil: time.Now().Add(time.Hour), Body: []byte(body),
			Entries: []definition.News{{Key: body, Kind: operation.NewsPlain, Item: body}}})
		return err
	}
	if err := errors.Join(post("t1", "a"), post("t1", "a"), post("t2", "b")); err != nil {
		t.Fatal(err)
	}
	if err := post("t1", "forged"); !errors.Is(err, store.ErrTokenUsed) {
		t.Error(err)
	}
	n := 0
	if err := f.Owner.QueryRow(`SELECT count(*) FROM news WHERE news_key = 'forged'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d %v", n, err)
	}
}

// Silence past the deadline is the owner's work, and news that comes after all ends it.
func TestSilenceAboutAnyEffect(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := mailed(t, f, operation.Confirmed)
	p, err := f.Store.PlaceOf(t.Context(), s.id)
	s.must(err)
	if _, err := f.Owner.Exec(`UPDATE operations SET deliver_by = now() - interval '1 minute' WHERE id = $1`, string(s.id)); err != nil {
		t.Fatal(err)
	}
	if n, err := f.Store.SweepSilence(t.Context(), store.System("job")); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := lookAt(t, f, s.id); got.Remedy != "silence" {
		t.Errorf("%+v", got)
	}
	tell(t, f, p, "mail-demo", definition.News{Key: "e", Kind: operation.NewsDelivered, Operation: s.id, Reference: ref(s.id)})
	if got, want := lookAt(t, f, s.id), (fate{"confirmed", "delivered", "", ""}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
