package definition

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

const opID = "op_01234567890123456789012345"

var dispatched = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func in(content map[string]any) Context {
	return Context{Content: content, Key: opID, OperationID: opID, DispatchedAt: dispatched, Env: demoEnv}
}

func TestClassify(t *testing.T) {
	d := loadDemo(t)
	task := map[string]any{"subject": "s", "due": "2026-12-01T10:00:00Z"}
	const created = `{"id":"TSK-1","url":"http://127.0.0.1/crm/view/TSK-1","reference":"` + opID + `"}`
	const invoice = `{"id":"in_1","metadata":{"operation_id":"` + opID + `"}}`
	type want struct {
		outcome operation.Outcome
		code    string
		flags   string
	}
	for name, c := range map[string]struct {
		action string
		ans    Answer
		want   want
	}{
		"Created":              {"crm create_task", Answer{Status: 201, Body: []byte(created)}, want{operation.OutcomeConfirmed, CodeConfirmed, ""}},
		"CreatedForAnother":    {"crm create_task", Answer{Status: 201, Body: []byte(`{"id":"TSK-1","reference":"op_other"}`)}, want{0, CodeReferenceMissing, "lookup"}},
		"CreatedWithoutID":     {"crm create_task", Answer{Status: 201, Body: []byte(`{"reference":"` + opID + `"}`)}, want{0, CodeUnrecognised, ""}},
		"CreatedEmptyID":       {"crm create_task", Answer{Status: 201, Body: []byte(`{"id":"","reference":"` + opID + `"}`)}, want{0, CodeReferenceMissing, "lookup"}},
		"CreatedNoBody":        {"crm create_task", Answer{Status: 201}, want{0, CodeUnrecognised, ""}},
		"CreatedBodyCut":       {"crm create_task", Answer{Status: 201, Body: []byte(created), Truncated: true}, want{0, CodeBodyCut, ""}},
		"CreatedHalfJSON":      {"crm create_task", Answer{Status: 201, Body: []byte(created[:20])}, want{0, CodeUnrecognised, ""}},
		"CreatedDuplicateKeys": {"crm create_task", Answer{Status: 201, Body: []byte(`{"id":"A","id":"B","reference":"` + opID + `"}`)}, want{0, CodeUnrecognised, ""}},
		"LoginPage":            {"crm create_task", Answer{Status: 200, Body: []byte("<html>Log in</html>")}, want{0, CodeUnrecognised, ""}},
		"Redirect":             {"crm create_task", Answer{Status: 302, Header: http.Header{"Location": {"https://else.example/"}}}, want{0, CodeRedirect, ""}},
		"Exists":               {"crm create_task", Answer{Status: 409, Body: []byte(`{"category":"CONFLICT"}`)}, want{0, CodeExists, "lookup"}},
		"Invalid":              {"crm create_task", Answer{Status: 400, Body: []byte(`{"category":"VALIDATION_ERROR"}`)}, want{operation.OutcomeNotStarted, "validation", "permanent"}},
		"InvalidUnreadable":    {"crm create_task", Answer{Status: 400, Body: []byte(`Bad Request`)}, want{0, CodeRuleError, ""}},
		"TooMany":              {"crm create_task", Answer{Status: 429, Header: http.Header{"Retry-After": {"7"}}}, want{operation.OutcomeNotStarted, "rate_limited", "after 7s"}},
		"ServerError":          {"crm create_task", Answer{Status: 500, Body: []byte(`{}`)}, want{0, CodeUnrecognised, ""}},
		"NotFound":             {"crm create_task", Answer{Status: 404}, want{0, CodeUnrecognised, ""}},
		"Invoice":              {"billing create_invoice", Answer{Status: 200, Body: []byte(invoice)}, want{operation.OutcomeConfirmed, CodeConfirmed, ""}},
		"InvoiceReplayed":      {"billing create_invoice", Answer{Status: 200, Header: http.Header{"Idempotent-Replayed": {"true"}}, Body: []byte(invoice)}, want{operation.OutcomeConfirmed, CodeConfirmed, "replayed"}},
		"StoredErrorReplayed":  {"billing create_invoice", Answer{Status: 500, Header: http.Header{"Idempotent-Replayed": {"true"}}, Body: []byte(`{"error":{"type":"api_error"}}`)}, want{0, CodeUnrecognised, "replayed"}},
		"KeyOfOtherParameters": {"billing create_invoice", Answer{Status: 400, Body: []byte(`{"error":{"type":"idempotency_error"}}`)}, want{0, CodeKeyMismatch, "mismatch"}},
		"KeyInUse":             {"billing create_invoice", Answer{Status: 409, Body: []byte(`{"error":{"type":"idempotency_error","code":"idempotency_key_in_use"}}`)}, want{0, CodeKeyInProgress, "in_progress"}},
		"LockTimeout":          {"billing create_invoice", Answer{Status: 429, Body: []byte(`{"error":{"code":"lock_timeout"}}`)}, want{operation.OutcomeNotStarted, "rate_limited", ""}},
		"PaymentFailed":        {"billing create_invoice", Answer{Status: 402, Body: []byte(`{"error":{"type":"card_error"}}`)}, want{0, CodeUnrecognised, ""}},
		"CouponExists":         {"billing create_coupon", Answer{Status: 400, Body: []byte(`{"error":{"type":"invalid_request_error","code":"resource_already_exists"}}`)}, want{0, CodeExists, "lookup"}},
		"MailOfOtherBody":      {"mail send", Answer{Status: 409, Body: []byte(`{"name":"invalid_idempotent_request"}`)}, want{0, CodeKeyMismatch, "mismatch"}},
		"MailInProgress":       {"mail send", Answer{Status: 409, Body: []byte(`{"name":"concurrent_idempotent_requests"}`)}, want{0, CodeKeyInProgress, "in_progress"}},
		"SMTPAccepted":         {"smtp send", Answer{Status: 250, Body: []byte("2.0.0 Ok: queued as 4X")}, want{operation.OutcomeConfirmed, CodeConfirmed, ""}},
		"SMTPLater":            {"smtp send", Answer{Status: 451, Body: []byte("4.7.1 Greylisted")}, want{operation.OutcomeNotStarted, "smtp_later", ""}},
		"SMTPRefused":          {"smtp send", Answer{Status: 550, Body: []byte("5.1.1 No such user")}, want{operation.OutcomeNotStarted, "smtp_refused", "permanent"}},
		"SMTPOdd":              {"smtp send", Answer{Status: 302}, want{0, CodeUnrecognised, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			destination, action, _ := strings.Cut(c.action, " ")
			a, err := d.profiles[destination].Action(action)
			if err != nil {
				t.Fatal(err)
			}
			r := a.Classify(in(task), c.ans)
			if got := (want{r.Outcome, r.Proof.Code, flags(r)}); got != c.want || r.Proof.Status != c.ans.Status {
				t.Errorf("%+v, want %+v; %+v", got, c.want, r)
			}
			if (r.TargetReference != "") != (r.Outcome == operation.OutcomeConfirmed) {
				t.Errorf("outcome %s with the reference %q", r.Outcome, r.TargetReference)
			}
		})
	}
}

func flags(r operation.Result) string {
	var on []string
	for _, f := range []struct {
		set  bool
		name string
	}{{r.Permanent, "permanent"}, {r.Lookup, "lookup"}, {r.Mismatch, "mismatch"}, {r.InProgress, "in_progress"}, {r.Replayed, "replayed"}, {r.RetryAfter > 0, "after " + r.RetryAfter.String()}} {
		if f.set {
			on = append(on, f.name)
		}
	}
	return strings.Join(on, " ")
}

func TestClassify_ARuleThatErrsEndsTheSearch(t *testing.T) {
	src := strings.Replace(minimal, "- {confirmed: ${status == 201}}", "- {not_started: ${body.gone == 1}, code: gone}\n      - {confirmed: ${status == 201}}", 1)
	p, err := ParseProfile("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	r := p.Actions["act"].Classify(in(nil), Answer{Status: 201, Body: []byte(`{}`)})
	if r.Outcome != operation.OutcomeUnknown || r.Proof.Code != CodeRuleError || !strings.Contains(r.Proof.Detail, "body.gone") {
		t.Errorf("%+v", r)
	}
}

func TestClassify_ShowsSafeLinksOnly(t *testing.T) {
	src := minimal + "    reference: {id: \"${body.id}\", url: \"${body.url}\"}\n"
	p, err := ParseProfile("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	for link, want := range map[string]string{
		"https://a.example/x?y=1": "https://a.example/x?y=1", "http://a.example": "http://a.example",
		"javascript:alert(1)": "", "data:text/html,x": "", "//a.example/x": "", "/x": "", "https://me:pw@a.example": "", "": "",
	} {
		r := p.Actions["act"].Classify(in(nil), Answer{Status: 201, Body: []byte(`{"id":9007199254740993,"url":"` + link + `"}`)})
		if r.Outcome != operation.OutcomeConfirmed || r.TargetReference != "9007199254740993" || r.TargetURL != want {
			t.Errorf("%s gives %+v", link, r)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for v, want := range map[string]time.Duration{
		"": 0, "0": 0, "30": 30 * time.Second, "-5": 0, "x": 0, "1e3": 0, "999999999": maxRetryAfter,
		"Sun, 29 Nov 2026 12:01:00 GMT": time.Minute, "Sun, 29 Nov 2026 11:00:00 GMT": 0, "Sun, 29 Nov 2099 12:01:00 GMT": maxRetryAfter,
	} {
		if got := retryAfter(http.Header{"Retry-After": {v}}, dispatched); got != want {
			t.Errorf("%q gives %s, want %s", v, got, want)
		}
	}
	h := http.Header{"Retry-After": {"Sun, 29 Nov 2026 12:01:00 GMT"}, "Date": {"Sun, 29 Nov 2026 12:00:50 GMT"}}
	if got := retryAfter(h, dispatched); got != 10*time.Second {
		t.Errorf("from the answer's date: %s", got)
	}
}

func TestReadLookup(t *testing.T) {
	d := loadDemo(t)
	task := map[string]any{"subject": "s"}
	order := map[string]any{"customer": "cus_1", "amount": int64(500)}
	const mine = `"reference":"` + opID + `"`
	event := func(key, customer, amount string) string {
		return `{"request":{"idempotency_key":` + key + `},"data":{"object":{"id":"in_1","customer":"` + customer + `","amount":"` + amount + `"}}}`
	}
	ours := event(`"`+opID+`"`, "cus_1", "500")
	for name, c := range map[string]struct {
		action  string
		content map[string]any
		ans     Answer
		result  operation.LookupResult
		id      string
	}{
		"Found":            {"crm create_task", task, Answer{Status: 200, Body: []byte(`{"id":"T1","subject":"s",` + mine + `}`)}, operation.LookupOne, "T1"},
		"OtherContent":     {"crm create_task", task, Answer{Status: 200, Body: []byte(`{"id":"T1","subject":"other",` + mine + `}`)}, operation.LookupMismatch, "T1"},
		"OtherReference":   {"crm create_task", task, Answer{Status: 200, Body: []byte(`{"id":"T1","subject":"s","reference":"x"}`)}, operation.LookupMismatch, "T1"},
		"NotThere":         {"crm create_task", task, Answer{Status: 404, Body: []byte(`{"category":"OBJECT_NOT_FOUND"}`)}, operation.LookupNone, ""},
		"WrongAddress":     {"crm create_task", task, Answer{Status: 404, Body: []byte(`404 page not found`)}, operation.LookupUnreachable, ""},
		"Several":          {"crm create_task", task, Answer{Status: 300, Body: []byte(`{"results":[{"id":"T1"},{"id":"T2"}]}`)}, operation.LookupMany, ""},
		"ServerError":      {"crm create_task", task, Answer{Status: 500, Body: []byte(`{"id":"T1"}`)}, operation.LookupUnreachable, ""},
		"Refused":          {"crm create_task", task, Answer{Status: 401}, operation.LookupUnreachable, ""},
		"LoginPage":        {"crm create_task", task, Answer{Status: 200, Body: []byte("<html>")}, operation.LookupUnreachable, ""},
		"Cut":              {"crm create_task", task, Answer{Status: 200, Body: []byte(`{"id":"T1","subject":"s",` + mine + `}`), Truncated: true}, operation.LookupUnreachable, ""},
		"WithoutID":        {"crm create_task", task, Answer{Status: 200, Body: []byte(`{"subject":"s",` + mine + `}`)}, operation.LookupUnreachable, ""},
		"EventFound":       {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"has_more":false,"data":[` + event("null", "c", "1") + "," + ours + `]}`)}, operation.LookupOne, "in_1"},
		"EventOther":       {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"has_more":false,"data":[` + event(`"`+opID+`"`, "cus_2", "500") + `]}`)}, operation.LookupMismatch, "in_1"},
		"EventTwice":       {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"has_more":false,"data":[` + ours + "," + ours + `]}`)}, operation.LookupMany, ""},
		"NoEvent":          {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"has_more":false,"data":[]}`)}, operation.LookupNone, ""},
		"MorePagesFollow":  {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"has_more":true,"data":[]}`)}, operation.LookupUnreachable, ""},
		"FoundOnPageOne":   {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"has_more":true,"data":[` + ours + `]}`)}, operation.LookupOne, "in_1"},
		"NoList":           {"billing create_invoice", order, Answer{Status: 200, Body: []byte(`{"ok":false}`)}, operation.LookupUnreachable, ""},
		"ForeignCoupon":    {"billing create_coupon", map[string]any{"percent_off": int64(10)}, Answer{Status: 200, Body: []byte(`{"id":"WINTER","percent_off":"10","metadata":{}}`)}, operation.LookupMismatch, "WINTER"},
		"NothingToCompare": {"billing create_coupon", map[string]any{}, Answer{Status: 200, Body: []byte(`{"id":"WINTER","percent_off":"10","metadata":{"operation_id":"` + opID + `"}}`)}, operation.LookupMismatch, "WINTER"},
		"DraftOfATask":     {"crm create_task", map[string]any{}, Answer{Status: 200, Body: []byte(`{"id":"T1","subject":"s",` + mine + `}`)}, operation.LookupMismatch, "T1"},
		"NoLookupAtAll":    {"plain create_thing", nil, Answer{Status: 200}, operation.LookupUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			destination, action, _ := strings.Cut(c.action, " ")
			f := d.profiles[destination].Actions[action].ReadLookup(in(c.content), c.ans)
			if f.Result != c.result || f.ID != c.id {
				t.Errorf("%+v, want %s %q", f, c.result, c.id)
			}
			if f.Result == operation.LookupMany && len(f.Found) != 2 {
				t.Errorf("found %v", f.Found)
			}
			if f.Result == operation.LookupOne && f.Matched == "" {
				t.Error("one without the reference that matched")
			}
		})
	}
}

func TestReadLookup_ByNothingOfOursIsOnlyACandidate(t *testing.T) {
	src := minimal + "    lookup: {request: {method: GET, path: /things, query: {text: \"${content.text}\"}}, match: \"${body.found}\", id: \"${match.id}\"}\n"
	p, err := ParseProfile("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Actions["act"]
	f := a.ReadLookup(in(map[string]any{"text": "t"}), Answer{Status: 200, Body: []byte(`{"found":[{"id":"X"}]}`)})
	if f.Result != operation.LookupMismatch || f.ID != "X" || f.Matched != "" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(explained(a), "only a candidate") {
		t.Error(explained(a))
	}
}

func TestLookupRequest(t *testing.T) {
	d := loadDemo(t)
	for action, want := range map[string]string{
		"crm create_task":        "http://127.0.0.1:7400/crm/tasks/by-reference/" + opID,
		"billing create_invoice": "http://127.0.0.1:7400/billing/v1/events?limit=100&type=invoice.created",
		"billing create_coupon":  "http://127.0.0.1:7400/billing/v1/coupons/WINTER%20%231",
		"mail send":              "http://127.0.0.1:7400/mail/emails?limit=100&tag=operation_id%3A" + opID,
	} {
		destination, name, _ := strings.Cut(action, " ")
		a := d.profiles[destination].Actions[name]
		r, err := a.LookupRequest(in(map[string]any{"code": "WINTER #1"}), demoEnv)
		if err != nil || r.URL != want || r.Method != "GET" || len(r.Holes()) > 0 {
			t.Errorf("%s: %+v, %v", action, r, err)
		}
	}
	if _, err := d.profiles["plain"].Actions["create_thing"].LookupRequest(in(nil), demoEnv); err == nil {
		t.Error("a destination without lookup gives a request")
	}
	if _, err := d.profiles["billing"].Actions["create_coupon"].LookupRequest(in(map[string]any{"code": "../invoices"}), demoEnv); err == nil {
		t.Error("a code climbs out of its path")
	}
	here := in(nil)
	here.Env = func(name string) (string, bool) { return "http://127.0.0.1:7911", name == "SANDBOX_URL" }
	if l := d.profiles["crm"].Actions["create_task"].LookYourself(here); len(l) != 1 || l[0].Text.In("pl") == "" || l[0].URL != "http://127.0.0.1:7911/?destination=crm" {
		t.Errorf("links %v", l)
	}
	here.Env = nil
	if l := d.profiles["crm"].Actions["create_task"].LookYourself(here); len(l) != 0 {
		t.Errorf("links without the variable they need: %v", l)
	}
}

func TestProtection(t *testing.T) {
	d := loadDemo(t)
	day := 24 * time.Hour
	for action, want := range map[string]operation.Protection{
		"crm create_task":        {Margin: time.Hour, SettleAfter: 10 * time.Second, HasLookup: true, LookupLag: 15 * time.Second},
		"billing create_invoice": {Key: true, Proven: true, Retention: day, Margin: time.Hour, SettleAfter: 10 * time.Second, Concurrency: true, HasLookup: true, LookupLag: 2 * time.Second},
		"plain create_thing":     {Margin: time.Hour, SettleAfter: 10 * time.Second},
	} {
		destination, name, _ := strings.Cut(action, " ")
		if got := d.profiles[destination].Actions[name].Protection(); got != want {
			t.Errorf("%s: %+v", action, got)
		}
	}
	if got := strings.Join(d.profiles["smtp"].Actions["send"].NotStartedCodes(), " "); got != "smtp_later smtp_refused" {
		t.Errorf("codes %s", got)
	}
}

func TestAuthName(t *testing.T) {
	for want, a := range map[string]Auth{
		"none":                         {},
		"bearer env:KEY":               {Scheme: "bearer", Secret: SecretRef{Env: "KEY"}},
		"header X-Token file:/run/key": {Scheme: "header", Header: "X-Token", Secret: SecretRef{File: "/run/key"}},
		"basic env:USER env:PASSWORD":  {Scheme: "basic", User: SecretRef{Env: "USER"}, Secret: SecretRef{Env: "PASSWORD"}},
	} {
		if got := a.Name(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
