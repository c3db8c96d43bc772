package views

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// causeFamilies are the sentences about causes that are put together.
func causeFamilies(f map[string][]string) {
	f["cause.class."] = names(operation.CauseClasses)
	f["cause.class_hint."] = names(operation.CauseClasses)
	f["cause.phase."] = names(operation.CausePhases)
	f["cause.ending."] = names(operation.CauseEndings)
	f["assist.ask."] = []string{"class", "note"}
	f["assist.trouble."] = []string{"busy", "away", "refused", "unfit"}
	f["contradiction.decision."] = operation.PersonDecisions
	f["contradiction.told."] = []string{"callback", "lookup", "late_report"}
	f["disputed.still."] = []string{"callback", "lookup", "late_report", "unnamed"}
	f["disputed.found."] = f["disputed.still."]
	f["action."] = append(f["action."], "write_pattern")
}

// The hint says the numbers as they are, and never that something did or did not happen here.
func TestKnownPatternInWords(t *testing.T) {
	p := text.New("en", time.UTC, time.Now())
	for want, e := range map[string]operation.Endings{
		"12 before: 11 had happened, 1 had not":                   {operation.EndFound: 9, operation.EndPerson: 2, operation.EndReexecuted: 1, operation.EndOpen: 4},
		"3 others stopped so; nobody knows yet what had happened": {operation.EndOpen: 2, operation.EndWithdrawn: 1},
	} {
		if got := knownText(p, e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
