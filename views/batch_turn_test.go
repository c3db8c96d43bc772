package views

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// TestLapseSaysWhy: the history of a batch says why its approval holds no longer, without a
// figure that the entry does not hold.
func TestLapseSaysWhy(t *testing.T) {
	for _, lang := range text.Languages {
		p := text.New(lang, nil, time.Now())
		says := map[operation.Code]string{}
		for _, code := range []operation.Code{operation.CodeApprovalExpired, operation.CodeApproverNotEntitled} {
			says[code] = reasonOf(p, HistoryLine{Action: "expire", Reason: string(code), Links: map[string]string{"cause": string(code)}})
			if s := says[code]; s == "" || s == string(code) || strings.Contains(s, "–") {
				t.Errorf("%s, %s: %q", lang, code, s)
			}
		}
		if says[operation.CodeApprovalExpired] == says[operation.CodeApproverNotEntitled] || says[operation.CodeApproverNotEntitled] != p.T("turn.lapsed_rights") {
			t.Errorf("%s: %q", lang, says)
		}
	}
}
