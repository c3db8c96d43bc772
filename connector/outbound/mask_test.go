package outbound

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMask(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t/+va lue"
	cases := []struct{ in, gone, stays string }{
		{`{"error":"bad key s3cr3t/+va lue here"}`, "s3cr3t", "bad key"},
		{`Basic dTpzM2NyM3QvK3ZhIGx1ZQ==`, "dTpz", "Basic"},
		{`q=s3cr3t%2F%2Bva+lue`, "s3cr3t", "q="},
		{`Authorization: Bearer abcdef123456`, "abcdef", "Authorization"},
		{`Cookie: session=abcdefgh`, "abcdefgh", "Cookie"},
		{`{"access_token": "zzz\"en"}`, "zzz", "access_token"},
		{`{"apiKey":"k-1234"}`, "k-1234", "apiKey"},
		{`sk_live_abcdefghijkl is wrong`, "abcdefghijkl", "is wrong"},
		{`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc`, "eyJ", ""},
		{`to anna.nowak+x@przykład.example`, "nowak", "to "},
		{`call +48 601 234 567 now`, "601 234", "now"},
		{`call (03) 1234-5678-90`, "1234-5678", "call"},
		{`"phone":"5551234567"`, "5551234567", "phone"},
		{`card 4242 4242 4242 4242.`, "4242 4242", "card"},
		{`op_01h45ytscbebyvny4gc8cr8ma2 kept`, "", "op_01h45ytscbebyvny4gc8cr8ma2"},
		{`TSK-k3x-1001 at 2026-11-29T10:20:30Z`, "", "TSK-k3x-1001 at 2026-11-29T10:20:30Z"},
		{`550e8400-e29b-41d4-a716-446655440000`, "", "550e8400-e29b-41d4-a716-446655440000"},
		{`amount 129900 of 12 items`, "", "amount 129900 of 12 items"},
		{`"name":"re-execution-approvers"`, "", "re-execution-approvers"},
	}
	for _, c := range cases {
		got := Mask(c.in, secret, "u:"+secret)
		if c.gone != "" && strings.Contains(got, c.gone) {
			t.Errorf("Mask(%q) = %q still shows %q", c.in, got, c.gone)
		}
		if !strings.Contains(got, c.stays) {
			t.Errorf("Mask(%q) = %q lost %q", c.in, got, c.stays)
		}
	}
}

func TestExcerptIsShortAndHidesAtTheEdge(t *testing.T) {
	t.Parallel()
	const secret = "edge-secret-value-0123456789"
	for shift := range 40 {
		for _, at := range []int{ExcerptLimit, 3 * ExcerptLimit} {
			body := strings.Repeat("ż", (at-shift)/2) + secret + strings.Repeat(" tail", 3000)
			got := Excerpt([]byte(body), secret)
			if len(got) > ExcerptLimit {
				t.Fatalf("excerpt has %d bytes", len(got))
			}
			if !utf8.ValidString(got) {
				t.Fatalf("shift %d: the cut went through a character", shift)
			}
			if strings.Contains(got, secret[:6]) {
				t.Fatalf("shift %d: a part of the secret shows: %q", shift, got[len(got)-60:])
			}
		}
	}
	if got := Excerpt([]byte("\xff\xfe{}")); !utf8.ValidString(got) {
		t.Error("bytes that are no text were kept")
	}
	// Many long secrets shrink the text, so that its far edge comes into view.
	body := strings.Repeat(`"token":"`+strings.Repeat("x", 300)+`" `, 19) + secret
	if got := Excerpt([]byte(body), secret); strings.Contains(got, "edge-se") {
		t.Errorf("a cut secret shows: %q", got)
	}
}

func TestHeadersKeepWhatHelpsAndNothingSecret(t *testing.T) {
	t.Parallel()
	h := http.Header{
		"Set-Cookie": {"sid=1"}, "Www-Authenticate": {"x"}, "Retry-After": {"7"}, "Request-Id": {"req_1"},
		"Location": {"https://u:p@other.example/a?token=abc&next=1#frag"},
	}
	got := Headers(h)
	if got["Retry-After"] != "7" || got["Request-Id"] != "req_1" || got["Set-Cookie"] != "" {
		t.Errorf("headers: %v", got)
	}
	if got["Location"] != "https://other.example/a?token=***&next=***" {
		t.Errorf("location: %q", got["Location"])
	}
}
