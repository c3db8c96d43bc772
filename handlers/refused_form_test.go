package handlers_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store/storetest"
)

// TestFormOfAnotherPerson: a page that stayed open while somebody else signed in with
// the same browser decides nothing in their name, and its text is not shown to them.
func TestFormOfAnotherPerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	b := h.as(t, "lead")
	page := b.get(opPath(id)).want(200)
	h.session(t, b, h.Users["second"])
	a := b.submit(page, "form-decide", "decision", "approve", "comment", "Between us.").want(403).says("opened by another sign-in", "Nothing was changed", "Open the page again")
	if strings.Contains(a.body, "Between us.") {
		t.Error("another person's text is shown")
	}
	h.wantState(t, id, operation.PendingApproval)
	if n := h.Count(t, "approvals"); n != 0 {
		t.Errorf("%d decisions", n)
	}
}

// TestFormThatIsTooOld comes back with what was typed and a fresh key.
func TestFormThatIsTooOld(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	lead := h.as(t, "lead")
	page := lead.get(opPath(id)).want(200)
	_, fields := page.form("form-decide")
	_, rest, _ := strings.Cut(fields.Get("form_id"), ".")
	old := strconv.FormatInt(time.Now().Add(-25*time.Hour).UnixMilli(), 36) + "." + rest
	back := lead.submit(page, "form-decide", "form_id", old, "decision", "approve", "comment", "Read it twice.").want(422)
	back.says("more than a day ago", "Nothing was recorded", "Read it twice.")
	h.wantState(t, id, operation.PendingApproval)
	lead.submit(back, "form-decide").want(303)
	h.wantState(t, id, operation.Ready)
}

// TestFormFromAnotherSite decides nothing and says what to do.
func TestFormFromAnotherSite(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	lead := h.as(t, "lead")
	action, fields := lead.get(opPath(id)).form("form-decide")
	fields.Set("decision", "approve")
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		lead.postWith(action, fields, name, value).want(403).says("sent from another site", "Nothing was changed", "press the button there")
	}
	h.wantState(t, id, operation.PendingApproval)
}

// TestFieldCase17_ReadingDecidesNothing opens every address of the table that can be
// read, as a person and with a decision in its query: nothing in the database changes.
func TestFieldCase17_ReadingDecidesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	unknown, fresh := h.unknown(t), h.Receive(t, storetest.CouponEvent())[0]
	held := h.held(t, storetest.CampaignEvent)
	const decision = "?finding=done&done_reference=x&done_how=seen&decision=approve&reason=x&comment=x&confirm=yes&form_id=f&settled=1&settle=1&kept=1"
	for _, who := range []string{"admin", "ops", "lead"} {
		b := h.as(t, who)
		b.get("/inbox").want(200) // whatever a first visit may write, it writes here
		before := h.everything(t)
		var read []string // since all was looked at
		check := func() {
			if len(read) == 0 {
				return
			}
			after := h.everything(t)
			if diff := difference(before, after); after != before && !(strings.Contains(read[0], "/export.") && exportNoted.MatchString(diff)) {
				t.Errorf("%s: reading changed %s: %s", who, diff, strings.Join(read, ", "))
			}
			before, read = after, nil
		}
		for _, r := range handlers.Table() {
			exports := strings.Contains(r.Path, "/export.") // it is recorded, and looked at alone
			if exports && who != "admin" || r.Method != http.MethodGet && r.Method != http.MethodPost {
				continue
			}
			if exports && len(read) > 0 {
				check()
			}
			for _, id := range []string{string(unknown), string(fresh)} {
				path := h.filled(t, r.Path, id, held)
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					if a := b.do(method, path+decision, nil); a.status >= 500 {
						t.Errorf("%s %s: status %d", method, path, a.status)
					}
				}
			}
			if read = append(read, r.Path); exports || who == "admin" && len(read) == 10 { // who may read most is watched more closely
				check()
			}
		}
		check()
	}
	h.wantState(t, unknown, operation.Review)
	h.wantState(t, fresh, operation.PendingApproval)
}

// exportNoted are the tables that change when an export is recorded: in the history of
// whoever took it, and nowhere else.
var exportNoted = regexp.MustCompile(`^((history_\w+|users) [0-9]+ [0-9a-f]+(, )?)*$`)

// filled puts existing things into the pattern of an address.
func (h *house) filled(t *testing.T, path, op, delivery string) string {
	t.Helper()
	id := op
	switch {
	case strings.HasPrefix(path, "/runs/"):
		id = h.runOf(t, operation.ID(op))
	case strings.HasPrefix(path, "/deliveries/"):
		id = delivery
	case strings.HasPrefix(path, "/people/"):
		id = string(h.Users["lead"])
	}
	name := "newsletter-coupon"
	if strings.HasPrefix(path, "/destinations/") {
		name = "crm"
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		switch {
		case p == ":id":
			parts[i] = id
		case p == ":name":
			parts[i] = name
		case strings.HasPrefix(p, ":"):
			parts[i] = "x"
		}
	}
	return strings.Join(parts, "/")
}

// everything is a hash of each table's whole content, a line for each table. Sessions are
// left out: being seen renews them.
func (h *house) everything(t *testing.T) string {
	t.Helper()
	var tables []string
	rows, err := h.Owner.Query(`SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r' AND relname <> 'sessions' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, `SELECT '`+name+` ' || count(*) || ' ' || COALESCE(md5(string_agg(x::text, '|' ORDER BY x::text)), '') AS line FROM "`+name+`" x`)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var all string
	if err := h.Owner.QueryRow(`SELECT string_agg(line, E'\n' ORDER BY line) FROM (` + strings.Join(tables, " UNION ALL ") + `) t`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// difference lists the lines of b that a does not have.
func difference(a, b string) string {
	var out []string
	for line := range strings.SplitSeq(b, "\n") {
		if !strings.Contains(a, line) {
			out = append(out, line)
		}
	}
	return strings.Join(out, ", ")
}
