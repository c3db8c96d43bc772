package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// AcceptanceID names one run of the six acceptance cases; prefix acc_.
type AcceptanceID string

// AcceptanceState says where such a run stands.
type AcceptanceState string

// The states of an acceptance run. Only AcceptancePassed may be signed.
const (
	AcceptanceWaiting     AcceptanceState = "waiting"     // asked for
	AcceptanceRunning     AcceptanceState = "running"     // a worker runs it
	AcceptancePassed      AcceptanceState = "passed"      // every case passed
	AcceptanceFailed      AcceptanceState = "failed"      // at least one case did not
	AcceptanceInterrupted AcceptanceState = "interrupted" // its worker was lost on the way
	AcceptanceCancelled   AcceptanceState = "cancelled"   // a person broke it off
	AcceptanceBroken      AcceptanceState = "broken"      // it could not be run
)

// Open reports that the run waits or runs.
func (s AcceptanceState) Open() bool { return s == AcceptanceWaiting || s == AcceptanceRunning }

// The parts in which an acceptance is signed.
const (
	SignedByOwner       = "owner"
	SignedByImplementer = "implementer"
)

// AcceptanceFormat names the encoding of a sheet.
const AcceptanceFormat = "holdpoint/acceptance/1"

// AcceptanceFile is a definition under acceptance: which version, which bytes.
type AcceptanceFile struct {
	Name        string `json:"name"`
	Version     int    `json:"version"`
	Hash        string `json:"hash"` // hex SHA-256 of the file as applied
	Environment string `json:"environment,omitempty"`
	// Source is the file; it is in the plan and not on the sheet.
	Source string `json:"source,omitempty"`
}

// AcceptanceInput is what the test events say: the inputs of the flow, and what people
// would write into its drafts. Texts may hold {n}, which becomes the event's number.
type AcceptanceInput struct {
	Inputs  map[string]any            `json:"inputs"`
	Content map[string]map[string]any `json:"content,omitempty"` // by stage; the parts that somebody writes
}

// AcceptancePlan is what a run is given.
type AcceptancePlan struct {
	ID           AcceptanceID     `json:"id"`
	Flow         AcceptanceFile   `json:"flow"`
	Source       AcceptanceFile   `json:"source"`
	Destinations []AcceptanceFile `json:"destinations"`
	Input        AcceptanceInput  `json:"input"`
}

// AcceptanceNote is one sentence of a sheet: a stable code, said by the catalogue, and
// its words.
type AcceptanceNote struct {
	At   time.Time         `json:"at"`
	Code string            `json:"code"`
	With map[string]string `json:"with,omitempty"`
}

// AcceptanceFinding is one operation at the end of a case.
type AcceptanceFinding struct {
	Operation   ID       `json:"operation"`
	Stage       string   `json:"stage"`
	Destination string   `json:"destination"`
	State       State    `json:"state"`
	Effects     int      `json:"effects"`  // that exist
	Expected    int      `json:"expected"` // that must exist
	CountedBy   string   `json:"counted_by"`
	Requests    int      `json:"requests"` // that reached the destination
	Attempts    []string `json:"attempts"` // kind and outcome, in order
	Evidence    []string `json:"evidence"` // kind and result, in order
	Target      string   `json:"target"`   // the effect's identifier at the destination
	Version     string   `json:"version"`  // hex hash of the approved content version
	Sent        string   `json:"sent"`     // hex SHA-256 of the last body that reached the destination
	History     string   `json:"history"`  // hex hash of the last entry of its history
}

// Who counted the effects of a finding.
const (
	CountedByLedger = "ledger" // of the sandbox, which plays the destination
	CountedByLookup = "lookup" // the destination's own answer to the profile's lookup
)

// AcceptanceCase is one case of a sheet.
type AcceptanceCase struct {
	Key      string              `json:"case"` // one of AcceptanceCases
	Passed   bool                `json:"passed"`
	Began    time.Time           `json:"began"`
	Ended    time.Time           `json:"ended"`
	Steps    []AcceptanceNote    `json:"steps"`
	Found    []AcceptanceFinding `json:"found"`
	Failures []AcceptanceNote    `json:"failures"`
}

// AcceptanceCases are the keys of the six cases, in their order.
var AcceptanceCases = []string{"normal", "redelivery", "timeout_after_success", "concurrent", "resume", "expired_key"}

// AcceptanceChange is a field that had another value in the rehearsal than in the file.
type AcceptanceChange struct {
	File  string `json:"file"`
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// AcceptanceSheet is the result of a run.
type AcceptanceSheet struct {
	Format       string             `json:"format"`
	ID           AcceptanceID       `json:"id"`
	Program      string             `json:"program"` // version of the program that ran it
	Flow         AcceptanceFile     `json:"flow"`
	Destinations []AcceptanceFile   `json:"destinations"`
	Input        AcceptanceInput    `json:"input"`
	Changed      []AcceptanceChange `json:"changed"`
	People       []string           `json:"people"` // the declared test people who decided
	Began        time.Time          `json:"began"`
	Ended        time.Time          `json:"ended"`
	Cases        []AcceptanceCase   `json:"cases"`
}

// Passed reports that all six cases were run, in their order, and passed.
func (s AcceptanceSheet) Passed() bool {
	if len(s.Cases) != len(AcceptanceCases) {
		return false
	}
	for i, c := range s.Cases {
		if c.Key != AcceptanceCases[i] || !c.Passed || len(c.Failures) > 0 || len(c.Found) == 0 {
			return false
		}
	}
	return true
}

// Fits reports that the sheet is about this plan: the same run, versions and bytes.
func (s AcceptanceSheet) Fits(p AcceptancePlan) bool {
	same := func(x, y AcceptanceFile) bool { return x.Name == y.Name && x.Version == y.Version && x.Hash == y.Hash }
	if s.Format != AcceptanceFormat || s.ID != p.ID || !same(s.Flow, p.Flow) || len(s.Destinations) != len(p.Destinations) {
		return false
	}
	for i := range p.Destinations {
		if !same(s.Destinations[i], p.Destinations[i]) {
			return false
		}
	}
	return true
}

// Encode gives the bytes that are kept and signed, and the hex SHA-256 of them.
func (s AcceptanceSheet) Encode() (text, hash string, err error) {
	raw, err := json.Marshal(s)
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(raw)
	return string(raw), hex.EncodeToString(sum[:]), nil
}
