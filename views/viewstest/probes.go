package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// probed gives actions what follows a time-out and what probes have shown of them: one
// held, one did not, one was never probed, one showed nothing.
func probed(actions []views.DestinationAction) []views.DestinationAction {
	steps := []operation.ProbeStep{
		{Name: "first", Result: operation.ProbeHeld, Says: "The first request was confirmed.", Status: 201, Code: "confirmed_by_answer", Reference: "task_81"},
		{Name: "again", Result: operation.ProbeHeld, Says: "The same request with the same key names the same effect.", Status: 201, Reference: "task_81"},
	}
	broken := append([]operation.ProbeStep{steps[0]}, operation.ProbeStep{Name: "again", Result: operation.ProbeBroken, Status: 201, Reference: "con_9",
		Says: "The same request with the same key made a SECOND effect: con_8 and con_9.", Excerpt: `{"id":"con_9","mail":"***@***"}`})
	actions[0].TimeOut, actions[0].RepeatFor = "repeated", 23*time.Hour
	actions[0].Probe = &views.ProbeView{ID: "prb_1", Result: operation.ProbeHeld, At: ago(2000 * time.Hour), Account: "northdesk-test", OtherFile: true, Steps: steps}
	actions[1].TimeOut, actions[1].Broken = "looked_up", ago(40*time.Hour)
	actions[1].Probe = &views.ProbeView{ID: "prb_2", Result: operation.ProbeBroken, At: ago(40 * time.Hour), Account: "northdesk-test", Steps: broken}
	actions[2].TimeOut = "person"
	actions[3].TimeOut, actions[3].Broken = "looked_up", ago(400*time.Hour)
	actions[3].Probe = &views.ProbeView{ID: "prb_3", Result: operation.ProbeUnclear, At: ago(30 * time.Hour), Account: "northdesk-test", Steps: steps[:1]}
	return actions
}
