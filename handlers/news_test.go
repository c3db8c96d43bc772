package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// heldNews is news of the plain service that names no operation.
func (h *house) heldNews(t *testing.T, key string, kind operation.NewsKind) string {
	t.Helper()
	ids, err := h.Store.ReceiveNews(t.Context(), store.NewsPost{Destination: "plain", Account: "plain-demo",
		Entries: []definition.News{{Key: key, Kind: kind, Reference: "note_" + key, Item: `{"event":"` + key + `"}`}}})
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v %v", ids, err)
	}
	return "/news/" + string(ids[0])
}

func (h *house) newsState(t *testing.T, page string) (state string) {
	t.Helper()
	if err := h.Owner.QueryRow(`SELECT state FROM news WHERE id = $1`, strings.TrimPrefix(page, "/news/")).Scan(&state); err != nil {
		t.Fatal(err)
	}
	return state
}

// An ops owner ties held news to its operation: with a reason, once for a double click, and
// never over what somebody else has decided meanwhile.
func TestTieNews(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	page := h.heldNews(t, "one", operation.NewsEffect)
	b, other := h.as(t, "ops"), h.as(t, "ops2")
	b.get("/news").want(http.StatusOK).says("1 piece of news waits for its operation", "note_one")

	bad := b.submit(b.get(page).want(http.StatusOK), "form-news-tie", "operation", "op_nowhere", "reason", "It is <ours>.").want(http.StatusUnprocessableEntity)
	bad.says("There is no such operation at this destination and account.", "It is <ours>.")
	if strings.Contains(bad.body, "It is <ours>.") {
		t.Error("what was typed is not escaped")
	}
	b.submit(bad, "form-news-tie", "operation", string(id), "reason", " ").want(http.StatusUnprocessableEntity)
	if got := h.newsState(t, page); got != "waiting" {
		t.Fatalf("after two refused forms it is %s", got)
	}

	late := other.get(page).want(http.StatusOK)
	action, form := b.get(page).form("form-news-tie")
	form.Set("operation", string(id))
	form.Set("reason", "Their page shows our number.")
	for range 2 {
		b.post(action, form).want(http.StatusSeeOther)
	}
	h.wantState(t, id, operation.Confirmed)
	if n := h.Count(t, "history WHERE action = 'news_tied'"); n != 1 {
		t.Errorf("a double click gives %d entries", n)
	}
	if n := h.Count(t, "operations WHERE confirmed_by = 'person' AND id = $1", string(id)); n != 1 {
		t.Error("what a person tied counts as confirmed by the destination")
	}
	b.get(page).says("Tied to its operation", "Their page shows our number.")
	if b.get(page).has("form-news-tie") != nil || b.get(page).has("form-news_aside") != nil {
		t.Error("it can be decided about again")
	}
	b.get(opPath(id)).want(http.StatusOK).says("What the destination told", "tied by Oli Ops")

	other.follow(other.submit(late, "form-news-tie", "operation", string(id), "reason", "Me too.").want(http.StatusSeeOther)).says("This news has been decided about already. Nothing was changed.")
	if n := h.Count(t, "history WHERE action = 'news_tied'"); n != 1 {
		t.Errorf("%d entries after the stale form", n)
	}
}

// What belongs to no operation is put aside, by whom it concerns, and can still be tied.
func TestPutNewsAside(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.unknown(t)
	page := h.heldNews(t, "two", operation.NewsEffect)
	for _, who := range []string{"author", "lead", "auditor"} {
		p := h.as(t, who)
		a := p.get(page).want(http.StatusOK)
		if a.has("form-news_aside") != nil || a.has("form-news-tie") != nil && who != "lead" {
			t.Errorf("%s is offered a decision", who)
		}
		p.post(page+"/aside", map[string][]string{"form_id": {"f"}, "reason": {"x"}}).want(http.StatusForbidden)
		if p.post(page+"/tie", map[string][]string{"form_id": {"f"}, "operation": {string(id)}, "reason": {"x"}}).status == http.StatusSeeOther {
			t.Errorf("%s ties it", who)
		}
	}
	b := h.as(t, "ops")
	late := b.get(page).want(http.StatusOK)
	b.submit(late, "form-news_aside", "reason", "").want(http.StatusUnprocessableEntity)
	action, form := late.form("form-news_aside")
	form.Set("reason", "Another shop's note.")
	for range 2 {
		b.post(action, form).want(http.StatusSeeOther)
	}
	if got, n := h.newsState(t, page), h.Count(t, "history WHERE action = 'news_aside'"); got != "aside" || n != 1 {
		t.Fatalf("it is %s, %d entries", got, n)
	}
	other := h.as(t, "ops2")
	again := late
	again.t = t
	other.follow(other.submit(again, "form-news_aside", "reason", "Late.").want(http.StatusSeeOther)).says("decided about already")
	b.get("/news?state=aside").says("Another shop's note.")
	b.submit(b.get(page).want(http.StatusOK), "form-news-tie", "operation", string(id), "reason", "It is ours after all.").want(http.StatusSeeOther)
	h.wantState(t, id, operation.Confirmed)
}
