package operation

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// kinds are errors of different kinds; % places hold what differs from case to case.
var kinds = []Stop{
	{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: "timeout", Phase: PhaseSent}},
	{Kind: StopUnknown, Destination: "mail", Proof: Proof{Code: "timeout", Phase: PhaseSent}},
	{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: "reset", Phase: PhaseSent}},
	{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: "timeout", Phase: PhaseAnswered, Status: 200}},
	{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: "lease_ended_after_dispatch", Phase: PhaseSent}},
	{Kind: StopRefused, Destination: "crm", Proof: Proof{Code: "dns", Phase: PhaseConnecting}},
	{Kind: StopRefused, Destination: "crm", Proof: Proof{Code: "refused", Phase: PhaseComplete, Status: 422, Excerpt: `{"error":{"code":"validation_error","message":"customer %n with id %i: email %e is invalid"}}`}},
	{Kind: StopRefused, Destination: "crm", Proof: Proof{Code: "refused", Phase: PhaseComplete, Status: 422, Excerpt: `{"error":{"code":"validation_error","message":"customer %n with id %i: phone %e is required"}}`}},
	{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: "unrecognised_answer", Phase: PhaseComplete, Status: 500, Excerpt: `{"message":"deadlock detected at %t on row %i","trace":"%h"}`}},
	{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: "unrecognised_answer", Phase: PhaseComplete, Status: 503, Excerpt: `<html><head><title>503 Service Temporarily Unavailable</title></head><body>request %h at %t from %a</body></html>`}},
	{Kind: StopRefused, Destination: "mail", Mail: true, Proof: Proof{Code: "recipient_refused", Phase: PhaseSent, Status: 550, Excerpt: `550 5.1.1 <%e> user unknown in table (%h)`}},
	{Kind: StopRefused, Destination: "mail", Mail: true, Proof: Proof{Code: "refused", Phase: PhaseComplete, Status: 552, Excerpt: `552 5.2.2 mailbox of %n full, quota exceeded [%a]`}},
	{Kind: StopContradiction, Destination: "crm", Lookup: LookupMany, Proof: Proof{Code: "lookup_answered", Phase: PhaseComplete, Status: 200, Excerpt: `{"items":[{"id":"%i","name":"%n"},{"id":"%h"}]}`}},
	{Kind: StopContradiction, Destination: "crm", Lookup: LookupMismatch, Proof: Proof{Code: "lookup_answered", Phase: PhaseComplete, Status: 200, Excerpt: `{"items":[{"id":"%i","name":"%n"}]}`}},
	{Kind: StopReview, Destination: "crm", Why: "key_expired"},
	{Kind: StopReview, Destination: "crm", Why: "late_effect"},
	{Kind: StopMissing, Destination: "crm", Missing: []string{"customer.email"}},
	{Kind: StopMissing, Destination: "crm", Missing: []string{"items[%d].sku"}},
}

var customers = []string{"Anna Kowalska", "O'Brien", "山田太郎", "Zofia Łęcka-Nowak", "MacDonald", "ACME Sp. z o.o.", "Müller", "de la Cruz", "Bob", "x"}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// dressed fills a stop's places with other names, numbers, hashes, times and addresses; it
// gives what it put in.
func dressed(r *rand.Rand, s Stop) (Stop, []string) {
	name := pick(r, customers)
	id := pick(r, []string{fmt.Sprint(r.Uint32()), fmt.Sprintf("ord-%d", r.IntN(1e9)), fmt.Sprintf("gid://shopify/Customer/%d", r.Int64()), fmt.Sprintf("cus_%xQz", r.Uint64())})
	hash := fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
	at := pick(r, []string{fmt.Sprintf("2027-%02d-%02dT%02d:00:01Z", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24)), fmt.Sprint(1.7e9 + float64(r.IntN(1e8)))})
	mail := pick(r, []string{fmt.Sprintf("u%d@example.test", r.IntN(1e6)), fmt.Sprintf("%x.kowalska@klient.example", r.Uint32())})
	addr := pick(r, []string{fmt.Sprintf("10.%d.%d.7", r.IntN(255), r.IntN(255)), fmt.Sprintf("[2001:db8::%x]:443", r.IntN(65535))})
	put := strings.NewReplacer("%n", name, "%i", id, "%h", hash, "%t", at, "%e", mail, "%a", addr, "%d", fmt.Sprint(r.IntN(400)))
	s.Proof.Excerpt = put.Replace(s.Proof.Excerpt)
	s.Proof.Detail, s.Proof.Millis, s.Proof.Written = hash, r.Int64N(1e5), r.Int64N(1e6)
	missing := make([]string, len(s.Missing))
	for i, m := range s.Missing {
		missing[i] = put.Replace(m)
	}
	s.Missing = missing
	return s, []string{name, id, hash, at, mail, addr}
}

func TestSameKindOfErrorHasOneFingerprint(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	of := map[[32]byte]int{}
	for i, kind := range kinds {
		for range 200 {
			s, _ := dressed(r, kind)
			c := ClassifyStop(s)
			if other, known := of[c.Fingerprint]; known && other != i {
				t.Fatalf("kinds %d and %d are one pattern: %+v", other, i, c)
			}
			of[c.Fingerprint] = i
			if !c.Class.Valid() || !c.Phase.Valid() || c.Code == "" || !ValidID("pat", string(c.Pattern())) {
				t.Fatalf("incomplete cause %+v of %+v", c, s)
			}
		}
	}
	if len(of) != len(kinds) {
		t.Errorf("%d kinds gave %d fingerprints", len(kinds), len(of))
	}
}

var allowedText = regexp.MustCompile(`^[a-z0-9_… .A-Z]*$`)

func TestNormalisedErrorTellsNothingOfACustomer(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	secrets := []string{"sk_live_abcdef0123456789", "Bearer abc.def.ghi", "hunter2", "eyJhbGciOiJIUzI1NiJ9.e30.x"}
	shapes := []string{`%s`, `{"error":"%s"}`, `{"message":"failed for %s, retry later","code":"%s"}`, `<p>%s</p>`, `key=%s`, `{"code":"err_%s"}`, `not found: %s/%s`, `{"error":"cut %s`, "\x00%s\xff", `{"type":"%s_not_found"}`}
	for range 4000 {
		_, parts := dressed(r, Stop{})
		private := append(parts, pick(r, secrets))
		shape := pick(r, shapes)
		p := pick(r, private)
		text := strings.ReplaceAll(shape, "%s", p)
		c := ClassifyStop(Stop{Kind: StopUnknown, Destination: "crm", Proof: Proof{Code: text, Status: 500, Phase: PhaseComplete, Excerpt: text}})
		for _, out := range []string{c.Error, c.Code} {
			if !allowedText.MatchString(out) || len(out) > errorTextMax {
				t.Fatalf("%q became %q", text, out)
			}
			for _, w := range strings.FieldsFunc(out, func(r rune) bool { return r == ' ' || r == '_' || r == '…' }) {
				if !technical[w] {
					t.Fatalf("%q kept %q in %q", text, w, out)
				}
			}
		}
	}
}

func TestMissingDataNamesFieldsOnly(t *testing.T) {
	for in, want := range map[string]string{"customer.email": "customer.email", "items[12].sku": "items.sku", "Anna Kowalska.mail": "….mail", "a@b.example": "….example", "4711": "…", "line2": "line2"} {
		c := ClassifyStop(Stop{Kind: StopMissing, Destination: "crm", Missing: []string{in}})
		if c.Error != want || c.Class != ClassContent {
			t.Errorf("%q gave %q (%s), want %q", in, c.Error, c.Class, want)
		}
	}
}

// Codes that our own connectors and rules give stay as they are.
func TestOwnCodesStay(t *testing.T) {
	own := strings.Fields(`bad_request send_by_passed blocked_address dns refused_connection tls not_connected timeout reset no_answer cut_body body_limit body_encoding
		bad_message credential_missing starttls_missing auth_refused auth_without_tls recipient_refused refused cut_before_end not_supported answer_out_of_step accepted
		no_lookup no_such_action redirect early_answer lookup_not_asked confirmed_by_answer already_exists unrecognised_answer rule_error reference_missing key_mismatch
		key_in_progress body_cut lookup_answered lookup_incomplete lookup_unreadable lease_ended_after_dispatch lease_ended_before_dispatch superseded destination_unusable rate_limited`)
	for _, code := range own {
		if got := ClassifyStop(Stop{Kind: StopUnknown, Proof: Proof{Code: code}}).Code; got != code {
			t.Errorf("code %q became %q", code, got)
		}
	}
	for _, code := range Codes[1:] {
		if got := ClassifyStop(Stop{Kind: StopReview, Why: string(code)}).Code; got != string(code) {
			t.Errorf("code %q became %q", code, got)
		}
	}
	if got := ClassifyStop(Stop{Kind: StopUnknown, Proof: Proof{Code: "kunde_fehlt"}, Codes: []string{"kunde_fehlt"}}).Code; got != "kunde_fehlt" {
		t.Errorf("a profile's own code became %q", got)
	}
}

func TestClassOfACause(t *testing.T) {
	answer := func(code string, status int, text string) Stop {
		return Stop{Kind: StopUnknown, Proof: Proof{Code: code, Phase: PhaseComplete, Status: status, Excerpt: text}}
	}
	mail := func(code string, status int) Stop {
		return Stop{Kind: StopRefused, Mail: true, Proof: Proof{Code: code, Phase: PhaseSent, Status: status}}
	}
	for _, x := range []struct {
		s     Stop
		class CauseClass
		phase CausePhase
	}{
		{Stop{Kind: StopUnknown, Proof: Proof{Code: "timeout", Phase: PhaseSent}}, ClassOutage, CauseWaiting},
		{Stop{Kind: StopRefused, Proof: Proof{Code: "refused_connection", Phase: PhaseConnecting}}, ClassOutage, CauseConnect},
		{Stop{Kind: StopRefused, Proof: Proof{Code: "blocked_address", Phase: PhaseBlocked}}, ClassSystem, CauseGuard},
		{Stop{Kind: StopUnknown, Proof: LeaseEnded(true).Proof}, ClassSystem, CauseSending},
		{answer("server_error", 503, ""), ClassOutage, CauseAnswer},
		{answer("too_many", 429, ""), ClassOutage, CauseAnswer},
		{answer("refused", 422, `{"error":"invalid email"}`), ClassContent, CauseAnswer},
		{answer("refused", 401, ""), ClassSystem, CauseAnswer},
		{answer("refused", 404, `<html></html>`), ClassSystem, CauseAnswer},
		{answer("refused", 404, `{"message":"customer not found"}`), ClassContent, CauseAnswer},
		{answer("unrecognised_answer", 200, `{"ok":1}`), ClassSystem, CauseAnswer},
		{mail("recipient_refused", 550), ClassContent, CauseAnswer},
		{mail("refused", 451), ClassOutage, CauseAnswer},
		{mail("auth_refused", 535), ClassSystem, CauseAnswer},
		{Stop{Kind: StopContradiction, Lookup: LookupMany}, ClassSystem, CauseLookup},
		{Stop{Kind: StopReview, Why: WhyLateEffect}, ClassOutage, CauseDecided},
		{Stop{Kind: StopReview, Why: WhyAdopted}, ClassSystem, CauseDecided},
		{Stop{Kind: StopUnknown, Proof: Proof{Code: "exit_1"}}, ClassSystem, CauseWaiting},
	} {
		c := ClassifyStop(x.s)
		if c.Class != x.class || c.Phase != x.phase {
			t.Errorf("%+v: %s at %s, want %s at %s", x.s, c.Class, c.Phase, x.class, x.phase)
		}
	}
}
