package definition

import (
	"slices"

	"holdpoint/operation"
)

// EarlierStages names the stages whose target references the action's request holds, in
// alphabetical order. A flow that uses the action needs them before it, under these keys.
func (a *Action) EarlierStages() []string {
	if a.request == nil {
		return nil
	}
	var stages []string
	for _, name := range a.request.holes() {
		if stage, ok := operation.HoleStage(name); ok {
			stages = append(stages, stage)
		}
	}
	slices.Sort(stages)
	return slices.Compact(stages)
}
