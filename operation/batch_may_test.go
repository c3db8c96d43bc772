package operation

import (
	"slices"
	"strings"
	"testing"
)

// TestMayActOnBatch: who may pause, resume, stop and cancel, and in which states.
func TestMayActOnBatch(t *testing.T) {
	people := People{Owner: Responsible{Role: RoleAdmin}, Author: Responsible{Role: RoleAuthor}}
	withoutGoOn := []BatchAct{BatchActPause, BatchActResume, BatchActStop, BatchActCancel}
	for _, tt := range []struct {
		who    Role
		people People
		may    []BatchAct
	}{
		{RoleAuthor, people, []BatchAct{BatchActCancel}},
		{RoleApprover, people, withoutGoOn},
		{RoleOpsOwner, people, BatchActs},
		{RoleAdmin, people, BatchActs},
		{RoleAuthor, People{Owner: Responsible{Role: RoleAdmin}, Author: Responsible{Role: RoleOpsOwner}, Reviewer: Responsible{Role: RoleAuthor}}, []BatchAct{BatchActGoOn}},
		{RoleAuditor, people, nil},
		{RoleAuditor, People{Owner: Responsible{Role: RoleAuditor}, Author: Responsible{Role: RoleAuditor}}, nil},
		{RoleAuthor, People{Owner: Responsible{Role: RoleAuthor}, Author: Responsible{Role: RoleOpsOwner}}, BatchActs},
		{RoleAuthor, People{Owner: Responsible{Role: RoleAdmin}, Author: Responsible{Role: RoleOpsOwner}}, nil},
	} {
		for _, a := range BatchActs {
			r := MayActOnBatch(a, Person{Active: true, Roles: []Role{tt.who}}, tt.people, []Role{RoleApprover})
			if may := slices.Contains(tt.may, a); may != (r == nil) || r != nil && (r.Code != CodeNotEntitled || !strings.Contains(r.Params["roles"], string(RoleOpsOwner)) || strings.Contains(r.Params["roles"], string(RoleAuditor))) {
				t.Errorf("%s of a flow owned by %s: %s: %v", tt.who, tt.people.Owner.Role, a, r)
			}
		}
	}
	for _, s := range BatchStates {
		cancel, stop := s == BatchDraft || s == BatchPendingApproval, s == BatchCanary || s == BatchCanaryReview || s == BatchRunning
		if s.Takes(BatchActCancel) != cancel || s.Takes(BatchActStop) != stop || s.Takes(BatchActPause) != stop || s.Takes(BatchActResume) != stop || s.Takes(BatchActGoOn) != s.Closed() {
			t.Errorf("%s takes the wrong acts", s)
		}
		if cancel && !BatchMove(s, BatchCancelled) {
			t.Errorf("%s cannot be cancelled", s)
		}
	}
}
