package handlers_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestWalk walks the whole table of addresses as each role and as nobody, with an
// operation of theirs, one of a flow that they have no role for, and one that does not
// exist.
func TestWalk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.Receive(t, storetest.CampaignEvent())[0]
	foreign := h.Receive(t, storetest.CouponEvent())[0]
	missing := operation.ID("op_00000000000000000000000000")
	people := map[string]operation.Role{}
	for _, r := range operation.Roles {
		people[string(r)] = r
		h.limited(t, r, "campaign-follow-up")
	}
	walk := walker{h: h, own: own, ids: map[string]string{"own": string(own), "foreign": string(foreign), "missing": string(missing)}}
	walk.deliveries = map[string]string{"own": h.held(t, storetest.CampaignEvent), "foreign": h.held(t, storetest.CouponEvent), "missing": "dlv_00000000000000000000000000"}
	walk.runs = map[string]string{"own": h.runOf(t, own), "foreign": h.runOf(t, foreign), "missing": "run_00000000000000000000000000"}

	t.Run("nobody", func(t *testing.T) {
		for _, r := range handlers.Table() {
			walk.nobody(t, r)
		}
	})
	for name, role := range people {
		t.Run(name, func(t *testing.T) {
			b := h.nobody(t)
			h.session(t, b, h.Users["only-"+name])
			for _, r := range handlers.Table() {
				walk.as(t, b, role, r)
			}
		})
	}
}

type walker struct {
	h   *house
	own operation.ID
	// IDs by kind of thing: own, foreign, missing
	ids, runs, deliveries map[string]string
}

// paths gives a route's address for each kind of thing.
func (w walker) paths(r handlers.Entry) map[string]string {
	if !strings.Contains(r.Path, ":") {
		return map[string]string{"": r.Path}
	}
	if strings.HasPrefix(r.Path, "/people/") { // for a role of all flows only
		return map[string]string{"foreign": "/people/" + string(w.h.Users["lead"]), "missing": "/people/usr_00000000000000000000000000"}
	}
	out := map[string]string{}
	for kind := range w.ids {
		id, name := w.ids[kind], map[string]string{"own": "campaign-follow-up", "foreign": "newsletter-coupon", "missing": "nothing"}[kind]
		if strings.HasPrefix(r.Path, "/runs/") {
			id = w.runs[kind]
		}
		if strings.HasPrefix(r.Path, "/deliveries/") {
			id = w.deliveries[kind]
		}
		if strings.HasPrefix(r.Path, "/destinations/") && kind == "own" {
			name = "crm"
		} else if strings.HasPrefix(r.Path, "/destinations/") {
			name = "nothing"
		}
		p := strings.ReplaceAll(r.Path, ":id", id)
		p = strings.ReplaceAll(p, ":version", "ver_00000000000000000000000000")
		p = strings.ReplaceAll(p, ":attempt", "att_00000000000000000000000000")
		p = strings.ReplaceAll(p, ":attachment", "atc_00000000000000000000000000")
		out[kind] = strings.ReplaceAll(p, ":name", name)
	}
	return out
}

// nobody is led to the sign-in, and nothing is written.
func (w walker) nobody(t *testing.T, r handlers.Entry) {
	if len(r.Roles) == 0 {
		return
	}
	for kind, path := range w.paths(r) {
		b, before := w.h.nobody(t), w.h.fingerprint(t)
		a := b.do(r.Method, path, formOf(r))
		if a.status != 303 || !strings.HasPrefix(a.to, "/sign-in") {
			t.Errorf("%s %s (%s): status %d to %q, want the sign-in", r.Method, path, kind, a.status, a.to)
		}
		if after := w.h.fingerprint(t); after != before {
			t.Errorf("%s %s (%s) changed the record", r.Method, path, kind)
		}
	}
}

func (w walker) as(t *testing.T, b *browser, role operation.Role, r handlers.Entry) {
	if len(r.Roles) == 0 {
		return
	}
	for kind, path := range w.paths(r) {
		before := w.h.fingerprint(t)
		a := b.do(r.Method, path, formOf(r))
		label := fmt.Sprintf("%s %s (%s)", r.Method, path, kind)
		switch {
		case a.status >= 500:
			t.Errorf("%s: status %d\n%s", label, a.status, a.text())
		case !slices.Contains(r.Roles, role):
			if a.status != http.StatusForbidden {
				t.Errorf("%s: status %d, want 403", label, a.status)
			}
		case kind == "foreign" || kind == "missing":
			// who may pause one flow only learns nothing of the others either way
			hidden := strings.Contains(r.Path, ":id") || r.Method == http.MethodGet
			if a.status != http.StatusNotFound && (hidden || a.status != http.StatusForbidden) {
				t.Errorf("%s: status %d, want 404", label, a.status)
			}
		case r.Method == http.MethodGet:
			if a.status != 200 && !strings.Contains(r.Path, ":version") && !strings.Contains(r.Path, ":attempt") && !strings.Contains(r.Path, ":attachment") {
				t.Errorf("%s: status %d, want 200", label, a.status)
			}
		}
		changed := w.h.fingerprint(t) != before
		if changed && (r.Method == http.MethodGet || kind == "foreign" || kind == "missing" || !slices.Contains(r.Roles, role)) {
			t.Errorf("%s changed the record", label)
		}
	}
}

// formOf is an empty form: no route may decide anything by it.
func formOf(r handlers.Entry) url.Values {
	if r.Method == http.MethodGet {
		return nil
	}
	return url.Values{"form_id": {"walk"}, "reason": {""}}
}

// limited adds a person who holds one role, for one flow alone.
func (h *house) limited(t *testing.T, role operation.Role, flow string) {
	t.Helper()
	g := store.RoleGrant{Role: role, Flow: flow}
	link, err := h.Store.AddUser(t.Context(), store.System("command"), store.NewUser{Email: "only-" + string(role) + "@example.test", Name: "Only " + string(role), Roles: []store.RoleGrant{g}})
	if err != nil {
		t.Fatal(err)
	}
	h.Users["only-"+string(role)] = link.User
}

func (h *house) runOf(t *testing.T, id operation.ID) string {
	t.Helper()
	var run string
	if err := h.Owner.QueryRow(`SELECT run_id FROM operations WHERE id = $1`, string(id)).Scan(&run); err != nil {
		t.Fatal(err)
	}
	return run
}

// fingerprint says what the record holds, without sessions and who was seen when.
func (h *house) fingerprint(t *testing.T) string {
	t.Helper()
	var s sql.NullString
	err := h.Owner.QueryRow(`SELECT concat_ws('/', (SELECT count(*) FROM history), (SELECT sum(revision) FROM operations), (SELECT count(*) FROM operations),
		(SELECT count(*) FROM approvals), (SELECT count(*) FROM content_versions), (SELECT count(*) FROM evidence), (SELECT count(*) FROM pauses),
		(SELECT count(*) FROM runs), (SELECT count(*) FROM held_decisions), (SELECT sum(epoch) FROM installation), (SELECT count(*) FROM password_links WHERE used_at IS NOT NULL))`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return s.String
}

// TestFieldCase48_ForeignIsLikeMissing compares what people see of another flow's
// operation and of one that does not exist: status and page are the same.
func TestFieldCase48_ForeignIsLikeMissing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	foreign := h.Receive(t, storetest.CouponEvent())[0]
	h.limited(t, operation.RoleApprover, "campaign-follow-up")
	b := h.nobody(t)
	h.session(t, b, h.Users["only-approver"])
	before := h.fingerprint(t)
	in := h.Decision(t, foreign, operation.Approve)
	form := url.Values{"form_id": {"f1"}, "version": {string(in.Version)}, "hash": {in.Hash}, "revision": {fmt.Sprint(in.Revision)}, "decision": {"approve"}, "comment": {"mine now"}}
	for _, path := range []string{"", "/edit", "/decide", "/withdraw", "/cancel", "/reconcile", "/reexecution", "/dispute", "/evidence", "/go-on"} {
		method := http.MethodPost
		if path == "" {
			method = http.MethodGet
		}
		f := form
		if method == http.MethodGet {
			f = nil
		}
		x := b.do(method, opPath(foreign)+path, f)
		y := b.do(method, opPath("op_00000000000000000000000000")+path, f)
		if x.status != 404 || y.status != 404 || x.body != y.body {
			t.Errorf("%s %s: foreign %d, missing %d, same page: %v", method, path, x.status, y.status, x.body == y.body)
		}
	}
	if h.fingerprint(t) != before {
		t.Error("something was written")
	}
	if a := b.get("/operations?q=" + string(foreign)).want(200); strings.Contains(a.body, string(foreign)+`"`) && a.has("operation-row") != nil {
		t.Error("the list shows the foreign operation")
	}
}
