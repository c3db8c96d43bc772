package operation

import (
	"strings"
	"time"
)

// Adoption is what is known of a stopped job of another system that had no operation.
type Adoption struct {
	Who         Person
	Reason      string // why it is entered, and what is known
	Destination string
	Action      string
	System      string    // where the job ran
	ItsID       string    // how that system names the job
	StoppedAt   time.Time // when it stopped; zero = not known
}

// MayAdopt checks that a person may enter an adopted operation. It begins in review
// (see Adopted): nothing is known about its effect until a person has settled it.
func MayAdopt(a Adoption, now time.Time) *Refusal {
	switch {
	case a.Who.ID == "" || !a.Who.Has(RoleOpsOwner):
		return Refuse(CodeNotEntitled, "role", string(RoleOpsOwner)).By(Responsible{Role: RoleOpsOwner})
	case strings.TrimSpace(a.Reason) == "":
		return Refuse(CodeReasonMissing)
	case blank(a.Destination) || blank(a.Action) || blank(a.System) || blank(a.ItsID):
		return Refuse(CodeContentMissing)
	case a.StoppedAt.After(now):
		return Refuse(CodeDateMissing)
	}
	return nil
}

// AdoptedFlow and AdoptedStage stand in the intent of an adopted operation.
const (
	AdoptedFlow  = "adopted"
	AdoptedStage = "adopted"
)

// AdoptedIntent makes entering the same stopped job twice the same operation.
func AdoptedIntent(a Adoption) Intent {
	key := HashRunKey(AdoptedFlow+"/"+Normalize(strings.TrimSpace(a.System)), Normalize(strings.TrimSpace(a.ItsID)))
	return Intent{Flow: AdoptedFlow, RunKeyHash: key, Stage: AdoptedStage, ItemKey: a.Destination + "/" + a.Action}
}

// Adopted gives the facts with which an adopted operation begins: in review, disputed
// until a person has settled it, so that nothing is sent, edited or closed before.
func Adopted(f Facts) Facts {
	f.State, f.Disputed = Review, true
	f.OpenAttempt, f.Clearance = "", nil
	return f
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
