package store

import (
	"maps"
	"slices"

	"holdpoint/operation"
)

// who is whose decision is next.
func (o *opRow) who() operation.Responsible {
	return operation.Responsible{User: o.NextUser, Role: o.NextRole, System: o.NextSystem}
}

// stageOwner is whose decision a waiting operation waits for: that about the first stage that
// it waits for; where nothing of it is open, the owner says how the run goes on.
func (u *unit) stageOwner(o *opRow) (operation.Responsible, error) {
	if o.State != operation.Waiting {
		return operation.Responsible{}, nil
	}
	stage := ""
	if u.batch == nil {
		rows, err := u.stageRows()
		if err != nil {
			return operation.Responsible{}, err
		}
		stage = firstOr(waitsFor(u.flow, o, rows), "")
	}
	if h := holderOf(o, stage, append(slices.Collect(maps.Values(u.siblings)), u.op)); h != nil {
		return h.who(), nil
	}
	return u.people(o).Owner, nil
}

// holderOf is the first open operation of an earlier stage which another one waits for: of
// those of the same item and those of none, and where a stage is named, of that one; nil =
// none is open.
func holderOf(o *opRow, stage string, rows []*opRow) *opRow {
	var first *opRow
	for _, s := range rows {
		if s.StageNo >= o.StageNo || s.State.Closed() || s.ItemKey != "" && s.ItemKey != o.ItemKey || stage != "" && s.Stage != stage {
			continue
		}
		if first == nil || s.StageNo < first.StageNo || s.StageNo == first.StageNo && s.Replacement > first.Replacement {
			first = s
		}
	}
	return first
}

func firstOr(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return list[0]
}

// planFollowers gives the operations that wait for this one their next decision anew where
// somebody else decides about this one now.
func (u *unit) planFollowers() error {
	o := u.op
	if u.batch != nil || o.who() == o.wasWho {
		return nil
	}
	others, err := u.otherStages()
	waits := func(r stageRow) bool {
		return r.Batch == "" && r.State == operation.Waiting && r.No > o.StageNo && (o.ItemKey == "" || r.Item == o.ItemKey)
	}
	if err != nil || !slices.ContainsFunc(others, waits) {
		return err
	}
	if err := u.loadSiblings(); err != nil {
		return err
	}
	for _, s := range u.siblings {
		s.replanned = s.replanned || waits(rowOf(s, nil))
	}
	return nil
}
