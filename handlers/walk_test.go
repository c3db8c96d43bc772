package handlers_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestWalk walks the whole table of addresses as nobody, as each role for one flow alone,
// and as an administrator and an auditor of every flow: with things of theirs, things
// that they may not know of, and things that do not exist. walk_cases_test.go says what
// the addresses are filled with and where the answer is not the usual one; an address
// without a case fails.
func TestWalk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	w := newWalker(t, h)
	w.last = h.fingerprint(t)
	for _, fault := range walkFaults(handlers.Table()) {
		t.Error(fault)
	}
	t.Run("nobody", func(t *testing.T) {
		for _, r := range handlers.Table() {
			w.nobody(t, r)
		}
	})
	for _, r := range operation.Roles {
		h.limited(t, r, "campaign-follow-up")
		w.last = h.fingerprint(t)
		t.Run(string(r), func(t *testing.T) { w.walkAs(t, who{id: h.Users["only-"+string(r)], role: r}) })
	}
	for _, r := range []operation.Role{operation.RoleAdmin, operation.RoleAuditor} {
		t.Run(string(r)+" of every flow", func(t *testing.T) { w.walkAs(t, who{id: h.Users[string(r)], role: r, everywhere: true}) })
	}
}

// who walks.
type who struct {
	id         operation.UserID
	role       operation.Role
	everywhere bool // for every flow; else for campaign-follow-up alone
}

func (w *walker) walkAs(t *testing.T, p who) {
	b := w.h.nobody(t)
	for _, r := range handlers.Table() {
		if len(r.Roles) > 0 {
			w.h.session(t, b, p.id) // anew: some addresses end sessions
			w.as(t, b, p, r)
		}
	}
}

// nobody is led to the sign-in, and nothing is written.
func (w *walker) nobody(t *testing.T, r handlers.Entry) {
	if len(r.Roles) == 0 {
		return
	}
	for kind, path := range w.paths(r) {
		a := w.h.nobody(t).do(r.Method, path, formOf(r))
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.to, "/sign-in") {
			t.Errorf("%s %s (%s): status %d to %q, want the sign-in", r.Method, path, kind, a.status, a.to)
		}
		if w.changed(t) {
			t.Errorf("%s %s (%s) changed the record", r.Method, path, kind)
		}
	}
}

func (w *walker) as(t *testing.T, b *browser, p who, r handlers.Entry) {
	for kind, path := range w.paths(r) {
		a := b.do(r.Method, path, formOf(r))
		label := fmt.Sprintf("%s %s (%s)", r.Method, path, kind)
		want := w.expected(p, r, kind)
		if a.status >= 500 || len(want) > 0 && !slices.Contains(want, a.status) {
			t.Errorf("%s: status %d, want %v (walkCases says what is usual here)\n%.300s", label, a.status, want, a.text())
		}
		if w.changed(t) && (r.Method == http.MethodGet || kind == "foreign" || kind == "missing" || !slices.Contains(r.Roles, p.role)) {
			t.Errorf("%s changed the record", label)
		}
	}
}

// changed reports whether the last request changed the record.
func (w *walker) changed(t *testing.T) bool {
	t.Helper()
	before := w.last
	w.last = w.h.fingerprint(t)
	return w.last != before
}

// expected gives the statuses that an address may answer with; none = any that is no fault
// of ours.
func (w *walker) expected(p who, r handlers.Entry, kind string) []int {
	c := caseOf(r)
	switch {
	case !slices.Contains(r.Roles, p.role):
		return []int{http.StatusForbidden}
	case c.everywhere && !p.everywhere:
		return []int{http.StatusNotFound}
	case kind == "missing" || kind == "foreign" && !(p.everywhere && c.open):
		if len(c.absent) > 0 {
			return c.absent
		}
		return []int{http.StatusNotFound}
	case len(c.answer) > 0:
		return c.answer
	case r.Method == http.MethodGet:
		return []int{http.StatusOK}
	}
	return nil
}

// formOf is an empty form: no route may decide anything by it.
func formOf(r handlers.Entry) url.Values {
	if r.Method == http.MethodGet {
		return nil
	}
	return url.Values{"form_id": {"walk"}, "reason": {""}}
}

// TestProof asks for a new proof of the person wherever access is changed or a
// re-execution is decided about: the form is kept, and nothing is done.
func TestProof(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	w := newWalker(t, h)
	if _, err := h.Owner.Exec(`INSERT INTO user_roles (user_id, role) SELECT $1, r FROM unnest(ARRAY['ops_owner', 'approver', 'author']) AS r`, string(h.Users["admin"])); err != nil {
		t.Fatal(err)
	}
	w.last = h.fingerprint(t)
	b, fresh := h.as(t, "admin"), 0
	if _, err := h.Owner.Exec(`UPDATE sessions SET authenticated_at = authenticated_at - interval '11 minutes'`); err != nil {
		t.Fatal(err)
	}
	for _, r := range handlers.Table() {
		asks := r.Method == http.MethodPost && (strings.HasPrefix(r.Path, "/people") || strings.HasSuffix(r.Path, "/reexecution"))
		if asks && !r.Fresh {
			t.Errorf("%s %s changes access and asks for no proof: give it a permission with again()", r.Method, r.Path)
		}
		if !r.Fresh {
			continue
		}
		fresh++
		for kind, path := range w.paths(r) {
			a := b.do(r.Method, path, url.Values{"form_id": {"walk"}, "reason": {"because"}, "comment": {"because"}, "confirm": {"yes"}, "decision": {"approve"}})
			if a.status != http.StatusSeeOther || !strings.HasPrefix(a.to, "/confirm?return=") {
				t.Errorf("%s %s (%s): status %d to %q, want the page that asks for a proof", r.Method, path, kind, a.status, a.to)
			}
			if w.changed(t) {
				t.Errorf("%s %s (%s) changed the record", r.Method, path, kind)
			}
		}
	}
	if fresh < 10 {
		t.Errorf("only %d addresses ask for a proof", fresh)
	}
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
	err := h.Owner.QueryRow(`SELECT concat_ws('/', (SELECT count(*) FROM history WHERE action NOT IN ('look', 'export', 'export_done', 'export_cut')), (SELECT sum(revision) FROM operations), (SELECT count(*) FROM operations),
		(SELECT count(*) FROM approvals), (SELECT count(*) FROM content_versions), (SELECT count(*) FROM evidence), (SELECT count(*) FROM pauses),
		(SELECT count(*) FROM runs), (SELECT count(*) FROM held_decisions), (SELECT sum(epoch) FROM installation),
		(SELECT count(*) FROM password_links WHERE used_at IS NOT NULL), (SELECT count(*) FROM password_links), (SELECT count(*) FROM attachments),
		(SELECT sum(hashtext(r::text)) FROM user_roles r), (SELECT sum(hashtext(u.id || u.active || u.password_hash || COALESCE(u.same_as, ''))) FROM users u),
		(SELECT sum(hashtext(k.id || COALESCE(k.revoked_at::text, ''))) FROM api_tokens k), (SELECT sum(hashtext(p.id || p.name)) FROM passkeys p),
		(SELECT sum(hashtext(f.user_id || COALESCE(f.confirmed_at::text, ''))) FROM totp_factors f), (SELECT count(*) FROM recovery_codes),
		(SELECT sum(hashtext(d::text)) FROM delegations d), (SELECT sum(hashtext(v::text)) FROM saved_views v), (SELECT sum(hashtext(p::text)) FROM provider_identities p))`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return s.String
}

// whenMade is the moment of a page, by which its stream of changes begins.
var whenMade = regexp.MustCompile(` data-live-at="[0-9]+"`)

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
		same := whenMade.ReplaceAllString(x.body, "") == whenMade.ReplaceAllString(y.body, "")
		if x.status != 404 || y.status != 404 || !same {
			t.Errorf("%s %s: foreign %d, missing %d, same page: %v", method, path, x.status, y.status, same)
		}
	}
	if h.fingerprint(t) != before {
		t.Error("something was written")
	}
	if a := b.get("/operations?q=" + string(foreign)).want(200); strings.Contains(a.body, string(foreign)+`"`) && a.has("operation-row") != nil {
		t.Error("the list shows the foreign operation")
	}
}
