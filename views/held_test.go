package views

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// TestHeldBack: what is approved and held back is not said to be free to go.
func TestHeldBack(t *testing.T) {
	replaced := &Link{Label: "op_1", URL: "/operations/op_1"}
	for _, c := range []struct {
		name     string
		head     Head
		by       heldBy
		original bool
	}{
		{"free", Head{State: operation.Ready, Replaces: replaced}, heldByNothing, false},
		{"paused", Head{State: operation.Ready, Paused: []PausedBy{{Scope: PauseAll}}}, heldByPause, false},
		{"waits for its original", Head{State: operation.Ready, Replaces: replaced, Original: "open"}, heldByOriginal, true},
		{"retried", Head{State: operation.RetryScheduled, Replaces: replaced, Original: "open"}, heldByOriginal, true},
		{"not approved yet", Head{State: operation.PendingApproval, Replaces: replaced, Original: "open"}, heldByNothing, false},
		{"its original is there", Head{State: operation.Ready, Replaces: replaced, Original: "done"}, heldByNothing, false},
	} {
		c.head.Next, c.head.Responsible = operation.DecideTake, SystemWho()
		if got := c.head.heldBy(); got != c.by {
			t.Errorf("%s: held by %v, want %v", c.name, got, c.by)
		}
		if got := c.head.originalLink() != nil; got != c.original {
			t.Errorf("%s: leads to its original: %v", c.name, got)
		}
		for _, lang := range text.Languages {
			p := text.New(lang, nil, time.Now())
			free := p.T("state.says."+string(c.head.State)) == stateSentence(p, c.head)
			if free != (c.by == heldByNothing) {
				t.Errorf("%s, %s: %s", c.name, lang, stateSentence(p, c.head))
			}
			if free := triedHint(p, c.head) == p.T("tried.hint_ready"); c.head.State == operation.Ready && free != (c.by == heldByNothing) {
				t.Errorf("%s, %s: %s", c.name, lang, triedHint(p, c.head))
			}
			if system := waitText(p, c.head, Panel{}) == p.T("held.waits.original"); system != c.original {
				t.Errorf("%s, %s: %s", c.name, lang, waitText(p, c.head, Panel{}))
			}
		}
	}
}

// TestExpiryClaimsNothingAboutWhatWasSent: an approval also expires while the outcome of a
// request is unknown, and its page says so then.
func TestExpiryClaimsNothingAboutWhatWasSent(t *testing.T) {
	for lang, claim := range map[string]string{"en": "was sent", "ja": "未送信", "pl": "wysłano"} {
		if says := RefusalText(text.New(lang, nil, time.Now()), operation.Refuse(operation.CodeApprovalExpired, "at", "2026-09-25T09:06:11Z")); strings.Contains(says, claim) {
			t.Errorf("%s: %s", lang, says)
		}
	}
}
