package callback_test

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/systems"
)

// TestSignedNewsAgainstADecision: a mail that a person had refused is told to be delivered.
// A forged callback changes nothing; the signed one brings the operation back to people,
// once, however often it comes. After the account has changed, news of it waits.
func TestSignedNewsAgainstADecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "resend", "send", "account: change-me", `account: "4711"`)
	all := senders(t)
	s := all[slices.IndexFunc(all, func(s sender) bool { return s.system == "resend" })]
	h.secrets = s.secrets
	rejected := func(key string) operation.ID {
		rec, err := h.Store.Receive(t.Context(), store.System("api"), store.Received{Source: "form", Account: "demo", Topic: "system.asked", EventKey: key, Data: map[string]any{}, Body: []byte(`{}`), Status: 200})
		if err == nil {
			err = h.Decide(t, rec.Operations[0], "lead", operation.Reject)
		}
		if err != nil {
			t.Fatal(err)
		}
		return rec.Operations[0]
	}
	id := rejected("one")
	d := dispatched{h: h, id: id}
	body, header := s.sign(s.event("email.delivered", id, "em_1", "e1"), time.Now())
	forged := header.Clone()
	forged.Set("Svix-Signature", "v1,AAAA")
	if r := h.post("/cb/resend", body, forged); r.status != http.StatusUnauthorized {
		t.Errorf("forged: %d %s", r.status, r.raw)
	}
	d.want("rejected", "", "")
	for range 2 {
		if r := h.post("/cb/resend", body, header); r.status != http.StatusOK {
			t.Errorf("signed: %d %s", r.status, r.raw)
		}
	}
	d.want("review", "delivered", "")
	if n := h.Count(t, `history WHERE subject_id = $1 AND action = 'contradicted' AND links::jsonb->>'decision' = 'reject'`, string(id)); n != 1 {
		t.Errorf("the contradiction stands %d times in the history", n)
	}

	other := rejected("two")
	raw, err := fs.ReadFile(systems.Profiles(), "resend.yaml")
	if err != nil {
		t.Fatal(err)
	}
	h.apply("profile.yaml", strings.Replace(string(raw), "account: change-me", `account: "4712"`, 1))
	body, header = s.sign(s.event("email.delivered", other, "em_2", "e2"), time.Now())
	if r := h.post("/cb/resend", body, header); r.status != http.StatusOK || r.Waiting != 1 {
		t.Errorf("of another account: %d %s", r.status, r.raw)
	}
	dispatched{h: h, id: other}.want("rejected", "", "")
}
