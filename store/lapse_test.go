package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestApprovalLapses: an approval given longer ago than the policy lets it hold does
// not count towards a quorum that is reached later (FC-20).
func TestApprovalLapses(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	mail := f.Receive(t, storetest.CampaignEvent())[1] // two approvers
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), mail)
	ok(t, err)
	content := p.Current().Content()
	content["subject"], content["text"] = "Spring", "Dear customer"
	ok(t, f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: mail, Revision: p.Revision, Content: content,
		Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true}))
	f.Approve(t, mail, "lead")
	// The first approval is made four days old: the owner's rights are needed for that.
	_, err = f.Owner.Exec(`ALTER TABLE approvals DISABLE TRIGGER USER`)
	ok(t, err)
	_, err = f.Owner.Exec(`UPDATE approvals SET decided_at = decided_at - interval '4 days' WHERE operation_id = $1`, string(mail))
	ok(t, err)
	_, err = f.Owner.Exec(`ALTER TABLE approvals ENABLE TRIGGER USER`)
	ok(t, err)

	f.Approve(t, mail, "second")
	if s := f.State(t, mail); s != operation.PendingApproval {
		t.Fatalf("state %s: an approval of four days ago counted", s)
	}
	f.Approve(t, mail, "lead")
	if s := f.State(t, mail); s != operation.Waiting {
		t.Fatalf("state %s after both approved anew", s)
	}
	p, err = f.Store.FindOperation(t.Context(), f.As("author"), mail)
	ok(t, err)
	if p.ExpiresAt == nil || p.ExpiresAt.After(p.Now.Add(72*time.Hour)) || p.ExpiresAt.Before(p.Now.Add(71*time.Hour)) {
		t.Errorf("expires at %v, want 72 h after the first approval that counts", p.ExpiresAt)
	}
	whole(t, f.Store, operation.SubjectOperation, string(mail))
}
