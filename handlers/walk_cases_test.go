package handlers_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// walkCase says what is unusual about an address, or about all that begin with it.
type walkCase struct {
	// things fills in the parts of the address; "" = it has none.
	things string
	// everywhere: whoever holds the role for one flow alone is answered as if there were
	// no such page.
	everywhere bool
	// open: who holds a role for every flow may know of what is foreign to others.
	open bool
	// answer are the statuses for what is one's own, where 200 is not the usual one.
	answer []int
	// absent are the statuses for what is foreign or missing, where it is not 404.
	absent []int
}

// walkOpen are the addresses that anybody may open, and why.
var walkOpen = map[string]string{
	"/":                             "leads to the inbox or the sign-in",
	"/sign-in":                      "the door",
	"/sign-in/factor":               "asks for the second factor, knows the person by the session",
	"/sign-in/factor/passkey":       "likewise, by a passkey",
	"/sign-in/factor/passkey/start": "likewise",
	"/sign-in/passkey":              "the door, by a passkey",
	"/sign-in/passkey/start":        "likewise",
	"/sign-in/provider":             "the door, through the provider",
	"/sign-in/provider/callback":    "the way back from the provider",
	"/sign-out":                     "ends the session that is there",
	"/set-password":                 "takes a one-use link",
}

var (
	redirects  = []int{http.StatusSeeOther}
	notHere    = []int{http.StatusNotFound}
	whatever   = []int{http.StatusOK, http.StatusSeeOther, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusForbidden, http.StatusBadRequest}
	notAllowed = []int{http.StatusNotFound, http.StatusForbidden} // one's role for another flow tells nothing either way
)

// walkCases are the addresses with parts to fill in, and those whose answer is not the
// usual one. The longest beginning counts.
var walkCases = map[string]walkCase{
	"/operations/:id":                           {things: "operation", open: true},
	"GET /operations/:id/edit":                  {things: "operation", open: true, answer: whatever},
	"GET /operations/:id/replace":               {things: "operation", open: true, answer: whatever},
	"/operations/:id/versions/:version":         {things: "operation", open: true},
	"/operations/:id/versions/:version/preview": {things: "operation", open: true, answer: notHere}, // it is no mail
	"/operations/:id/attempts/:attempt":         {things: "operation", answer: notHere},             // nothing was tried yet
	"/operations/:id/attachments/:attachment":   {things: "operation", answer: notHere},
	"/operations/views/:view":                   {things: "view", absent: []int{http.StatusNotFound, http.StatusUnprocessableEntity}},
	"/runs/:id":                                 {things: "run", open: true},
	"/deliveries/:id":                           {things: "delivery", open: true},
	"/history/of/operation/:id":                 {things: "operation", open: true},
	"/history/of/run/:id":                       {things: "run", open: true},
	"/history/of/person/:id":                    {things: "person", everywhere: true},
	"/history/of/incident/:id":                  {things: "nobody's"},
	"/flows/:name":                              {things: "flow", open: true},
	"POST /flows/:name":                         {things: "flow", open: true, absent: notAllowed},
	"/destinations/:name":                       {things: "destination", open: true},
	"POST /destinations/:name":                  {things: "destination", open: true, absent: notAllowed},
	"POST /installation":                        {answer: whatever},
	"GET /installation/retention":               {answer: []int{http.StatusOK, http.StatusForbidden}}, // of one flow: it is about all of them
	"/account/delegations/:id":                  {things: "nobody's"},
	"/account/factors/passkeys/:id":             {things: "nobody's", absent: []int{http.StatusNotFound, http.StatusUnprocessableEntity}},
	"GET /account/factors/totp":                 {answer: redirects}, // nothing is being set up
	"GET /account/factors/recovery":             {answer: redirects},
	"GET /confirm":                              {answer: redirects}, // it is proven already
	"GET /confirm/provider":                     {answer: notHere},   // no provider is set up
	"/cases/:id":                                {things: "case", open: true},
	"POST /cases/:id/beat":                      {things: "case", open: true, answer: whatever, absent: []int{http.StatusNotFound, http.StatusBadRequest}},
	"/batches/:id":                              {things: "nobody's"},
	"/cases/queues/:id":                         {things: "nobody's"},
	"GET /cases/result":                         {answer: redirects}, // no list was worked on
	"/figures/:figure":                          {things: "figure", open: true},
	"/figures/limits/:id":                       {things: "nobody's"},
	"/figures/limits/breaches/:id":              {things: "nobody's"},
	"POST /figures/limits/new":                  {answer: whatever, absent: notAllowed},
	"/acceptance/:id":                           {things: "acceptance", open: true},
	"POST /acceptance/:id/cancel":               {things: "acceptance", open: true, answer: []int{http.StatusSeeOther, http.StatusForbidden}}, // it has ended; an approver may own the flow or not
	"POST /acceptance/:id/sign":                 {things: "acceptance", open: true, answer: []int{http.StatusUnprocessableEntity}},            // nothing is ticked
	"POST /acceptance/new":                      {answer: []int{http.StatusNotFound, http.StatusUnprocessableEntity}},                         // no such flow
	"/reports/:id":                              {things: "nobody's"},
	"/incidents/:id":                            {things: "nobody's"},
	"POST /incidents/pick":                      {answer: redirects},
	"/tasks/:id":                                {things: "nobody's"},
	"/news/:id":                                 {things: "nobody's"},
	"/starts/:id":                               {things: "nobody's"},
	"/sources/:name":                            {things: "source", open: true},
	"/flows/:name/start":                        {things: "flow", answer: notHere}, // no starter names it
	"/flows/:name/batches/new":                  {things: "flow", answer: notHere}, // none of its stages fans out
	"/lists/:id":                                {things: "nobody's"},
	"/suppressions/:id":                         {things: "nobody's"},
	"/suppressions/imports/:id":                 {things: "nobody's"},
	"POST /suppressions/imports/:id":            {things: "nobody's", absent: redirects}, // gone already: nothing is left to do
	"/batches/:id/revise":                       {things: "nobody's"},
	"/batches/:id/list":                         {things: "nobody's"},
	"/flows/:name/versions/:version/sheet":      {things: "flow", open: true},
	"/patterns/:id":                             {things: "nobody's"},
	"/people":                                   {everywhere: true},
	"/people/:id":                               {things: "person", everywhere: true},
	"/people/factors":                           {answer: []int{http.StatusOK, http.StatusSeeOther, http.StatusUnprocessableEntity, http.StatusForbidden}},
	"/people/tokens/:id":                        {things: "token", everywhere: true},
}

// caseOf finds the case of an address by its longest beginning; a case of the method
// goes before one of all methods.
func caseOf(r handlers.Entry) walkCase {
	best, found := "", walkCase{}
	for key, c := range walkCases {
		method, path, named := strings.Cut(key, " ")
		if !named {
			method, path = "", key
		}
		begins := r.Path == path || strings.HasPrefix(r.Path, path+"/")
		if begins && (method == "" || method == r.Method) && (len(path) > len(pathOf(best)) || len(path) == len(pathOf(best)) && method != "") {
			best, found = key, c
		}
	}
	return found
}

func pathOf(key string) string {
	if _, path, named := strings.Cut(key, " "); named {
		return path
	}
	return key
}

// walkFaults names the addresses that the walk does not know what to do with.
func walkFaults(table []handlers.Entry) []string {
	var out []string
	for _, r := range table {
		label := r.Method + " " + r.Path
		c := caseOf(r)
		switch {
		case len(r.Roles) == 0 && walkOpen[r.Path] == "":
			out = append(out, label+" is open to anybody: give it a permission, or say in walkOpen why it is")
		case len(r.Roles) > 0 && strings.Contains(r.Path, ":") && c.things == "":
			out = append(out, label+" has parts to fill in and no case: add it to walkCases, with the things that fill them (walker.fill)")
		}
	}
	return out
}

func TestWalkFaults(t *testing.T) {
	t.Parallel()
	some := []operation.Role{operation.RoleAdmin}
	if f := walkFaults(append(handlers.Table(), handlers.Entry{Method: "GET", Path: "/new/:id", Roles: some}, handlers.Entry{Method: "POST", Path: "/anybody"})); len(f) != 2 {
		t.Errorf("an address without a case and one that is open to anybody: %q", f)
	}
}

// walker knows the things with which addresses are filled in: by what they are, then
// own, foreign or missing, the values of the address's parts.
type walker struct {
	h      *house
	things map[string]map[string]map[string]string
	last   string // the record as it stood after the last request
}

func newWalker(t *testing.T, h *house) *walker {
	t.Helper()
	own, foreign := h.Receive(t, storetest.CampaignEvent())[0], h.Receive(t, storetest.CouponEvent())[0]
	const none = "00000000000000000000000000"
	token, _, err := h.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "walk", Scopes: []string{store.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	version := func(id operation.ID) string {
		var v string
		if err := h.Owner.QueryRow(`SELECT version_id FROM operations WHERE id = $1`, string(id)).Scan(&v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	ids := func(name, own, foreign, missing string) map[string]map[string]string {
		out := map[string]map[string]string{}
		for kind, id := range map[string]string{"own": own, "foreign": foreign, "missing": missing} {
			if id != "" {
				out[kind] = map[string]string{name: id}
			}
		}
		return out
	}
	w := &walker{h: h, things: map[string]map[string]map[string]string{
		"operation":   ids("id", string(own), string(foreign), "op_"+none),
		"run":         ids("id", h.runOf(t, own), h.runOf(t, foreign), "run_"+none),
		"delivery":    ids("id", h.held(t, storetest.CampaignEvent), h.held(t, storetest.CouponEvent), "dlv_"+none),
		"flow":        ids("name", "campaign-follow-up", "newsletter-coupon", "nothing"),
		"destination": ids("name", "crm", "", "nothing"), // everybody may know of each
		"source":      ids("name", "api", "", "nothing"), // and of each source; what came in is for those who see all
		"view":        ids("view", "", "", "viw_"+none),
		"figure":      ids("figure", "attempts", "", "nothing"), // everybody may see each, over what they may see
		"person":      ids("id", string(h.Users["lead"]), "", "usr_"+none),
		"case":        ids("id", h.adoptedCase(t, "campaign-follow-up", "crm-task"), h.adoptedCase(t, "newsletter-coupon", "coupon"), "case_"+none),
		"acceptance":  ids("id", h.accepted(t, "campaign-follow-up"), h.accepted(t, "plain-note"), "acc_"+none),
		"token":       ids("id", string(token), "", "tok_"+none),
		"nobody's":    ids("id", "", "", "none_"+none),
	}}
	for kind, id := range map[string]operation.ID{"own": own, "foreign": foreign} {
		w.things["operation"][kind]["version"] = version(id)
	}
	w.things["operation"]["missing"]["version"] = "ver_" + none
	w.things["nobody's"]["missing"]["no"] = "1"
	for _, parts := range w.things["operation"] {
		parts["attempt"], parts["attachment"] = "att_"+none, "atc_"+none
	}
	for _, name := range []string{"flow", "destination"} {
		for _, parts := range w.things[name] {
			parts["version"] = "1"
		}
	}
	return w
}

// adoptedCase enters a stopped job and gives its recovery case.
func (h *house) adoptedCase(t *testing.T, flow, stage string) string {
	t.Helper()
	id, err := h.Store.Adopt(t.Context(), h.As("ops"), store.AdoptedJob{Flow: flow, Stage: stage, System: "cron", ItsID: "walk " + flow, Reason: "It stopped half-way."})
	if err != nil {
		t.Fatal(err)
	}
	var c string
	if err := h.Owner.QueryRow(`SELECT id FROM recovery_cases WHERE operation_id = $1`, string(id)).Scan(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// paths gives an address filled in, for each kind of thing; "" = it has no parts.
func (w *walker) paths(r handlers.Entry) map[string]string {
	if !strings.Contains(r.Path, ":") {
		return map[string]string{"": r.Path}
	}
	c := caseOf(r)
	out := map[string]string{}
	for kind, parts := range w.things[c.things] {
		out[kind] = w.fill(r.Path, parts)
	}
	return out
}

func (w *walker) fill(path string, parts map[string]string) string {
	all := strings.Split(path, "/")
	for i, p := range all {
		if name, ok := strings.CutPrefix(p, ":"); ok {
			if parts[name] == "" {
				panic(fmt.Sprintf("nothing to fill in for :%s in %s: add it in newWalker", name, path))
			}
			all[i] = parts[name]
		}
	}
	return strings.Join(all, "/")
}
