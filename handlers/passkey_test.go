package handlers_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// script posts JSON as the page's script does.
func (b *browser) script(path, body string, head ...string) (int, string) {
	b.t.Helper()
	req, err := http.NewRequest(http.MethodPost, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Language", "en")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	res, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	var said bytes.Buffer
	if _, err := said.ReadFrom(res.Body); err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, said.String()
}

// TestPasskeyRequests: what the script sends is protected like every form, an answer
// counts once, and a failed one says nothing of who has an account.
func TestPasskeyRequests(t *testing.T) {
	t.Parallel()
	h := houseWith(t, nil)
	b := h.nobody(t)
	const start, finish = "/sign-in/passkey/start", "/sign-in/passkey"
	if status, _ := b.script(start, "{}", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("another site's script: status %d", status)
	}
	status, said := b.script(start, "{}")
	if status != 200 || !strings.Contains(said, `"challenge"`) || strings.Contains(said, "allowCredentials") || !strings.Contains(said, `"userVerification":"required"`) {
		t.Fatalf("status %d: %s", status, said)
	}
	if n := h.Count(t, "session_challenges WHERE kind = 'passkey'"); n != 1 {
		t.Errorf("%d challenges", n)
	}
	forged := `{"credential":{"id":"AAAA","rawId":"AAAA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AAAA","signature":"AAAA","userHandle":"AAAA"}}}`
	status, first := b.script(finish, forged)
	if status != http.StatusForbidden || h.Count(t, "session_challenges") != 0 {
		t.Errorf("a forged answer: status %d %s", status, first)
	}
	if status, again := b.script(finish, forged); status != http.StatusForbidden || again != first {
		t.Errorf("answered twice: status %d %s", status, again)
	}
	if status, _ := b.script(finish, forged, "Content-Type", "text/plain"); status != http.StatusUnsupportedMediaType {
		t.Errorf("a form of another site: status %d", status)
	}
	if status, _ := b.script(finish, strings.Repeat("x", 100<<10)); status < 400 || status >= 500 {
		t.Errorf("too much: status %d", status)
	}
	if status, _ := b.script("/sign-in/factor/passkey/start", "{}"); status != http.StatusForbidden {
		t.Errorf("a second factor of nobody: status %d", status)
	}
	o := newHouse(t) // opened by a number
	if status, _ := o.nobody(t).script(start, "{}"); status != http.StatusNotFound {
		t.Errorf("passkeys at an address without a name: status %d", status)
	}
	if o.nobody(t).get("/sign-in").want(200).has("passkey-get") != nil {
		t.Error("the page offers them")
	}
}
