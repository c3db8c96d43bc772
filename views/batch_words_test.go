package views

import "holdpoint/operation"

// batchFamilies are the words of batches that code puts together.
func batchFamilies(f map[string][]string) {
	f["batch.state."] = append(names(operation.BatchStates), "paused", "stopping", "stopped", "settling", "held", "halted", "reopened", "lapsed")
	f["batch.says."] = append(names(operation.BatchStates), "paused", "stopping", "stopped", "settling", "held", "halted", "reopened", "lapsed")
	f["batch.auto."], f["batch.auto_plain."], f["batch.window."] = operation.BatchAlarms, operation.BatchAlarms, operation.BatchAlarms
	f["batch.part."] = batchParts
	f["batch.excluded."] = exclusionWords
	f["batch.problem."] = batchProblems
	f["batch.samples."] = names(BatchSampleKinds)
	f["batch.diff."], f["batch.line."] = batchDiffs, batchDiffs
	f["batch.hint."] = []string{"approve", "request_changes", "reject"}
	f["batch.hint_rest."] = []string{"approve", "reject"}
	f["batch.do."] = []string{"settle", "lookup"}
	f["batch.act."] = names(operation.BatchActs)
	f["batch.confirm."] = []string{"stop", "cancel", "go_on"}
	f["flash.batch_"] = names(operation.BatchActs)
	f["decide."] = append(f["decide."], "approve_hint", "request_changes_hint", "reject_hint")
	f["do."] = append(f["do."], "batch_revise")
	f["turn.next."], f["turn.waits."], f["turn.held."] = []string{"settle", "reexecution"}, []string{"settle", "reexecution", "go_on"}, []string{"settle", "reexecution", "go_on", "system", "person"}
	for _, a := range operation.BatchActs {
		f["do."] = append(f["do."], "batch_"+string(a))
	}
}
