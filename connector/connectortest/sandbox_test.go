package connectortest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestSandboxCountsWhatReallyHappened(t *testing.T) {
	t.Parallel()
	s := StartSandbox(t)
	post := func() (*http.Response, error) {
		req, err := http.NewRequest(http.MethodPost, s.URL+"/plain/things", strings.NewReader(`{"reference":"op_1"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer x")
		return http.DefaultClient.Do(req)
	}
	s.Fault(t, Fault{Destination: "plain", Fault: "drop_after_execute"})
	if resp, err := post(); err == nil {
		resp.Body.Close()
		t.Fatal("the injected fault did not cut the answer")
	}
	if n := len(s.Ledger(t, "plain", "op_1")); n != 1 {
		t.Fatalf("ledger holds %d effects, want 1", n)
	}
	if rs := s.Requests(t, "plain"); len(rs) != 1 || rs[0].Fault != "drop_after_execute" {
		t.Fatalf("requests: %+v", rs)
	}
	if !s.WaitEffects(t, "plain", "op_1", 1, time.Second) {
		t.Fatal("wait did not see the effect")
	}
	s.Settings(t, "billing", map[string]time.Duration{"retention": 3 * time.Second})
	s.Advance(t, time.Hour)
	s.Reset(t)
	if n := len(s.Ledger(t, "plain", "")); n != 0 {
		t.Fatalf("after reset the ledger holds %d effects", n)
	}
}
