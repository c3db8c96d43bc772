package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// turnOf says whose turn it is, where that is not what was recorded.
func (b batchOf) turnOf() views.BatchTurn {
	t := b.p.Turn
	out := views.BatchTurn{Kind: t.Kind, N: t.N}
	if h := t.Holder; h != nil && t.Kind == operation.TurnHeld {
		st, _ := b.p.Def.Stage(h.Stage)
		out.Items = h.Items
		if st != nil {
			out.Stage.Label = st.Title.In(b.lang)
		}
		switch {
		case h.Batch != "":
			out.Stage.URL = pathBatch(h.Batch)
		case h.Op != "":
			out.Stage.URL = pathOperation(h.Op)
		}
		out.There, out.ThereN, out.ThereNext = h.Turn.Kind, h.Turn.N, h.Turn.Next.Kind
		if h.Batch == "" && h.Turn.Next.Kind == operation.DecideRemedy {
			out.There, out.Stage.URL = operation.TurnGoOn, pathRun(b.p.RunID)
		}
	}
	return out
}

// goOnURL leads to the page on which a run goes on without a batch; "" = it is not offered.
func goOnURL(p *store.RunPage, n names, x store.Batch) string {
	st, ok := p.Flow.Stage(x.Stage)
	if !ok || !p.Turns[x.ID].Unmet {
		return ""
	}
	people := operation.People{Owner: operation.Responsible{Role: p.Flow.Owner.Role}, Reviewer: operation.Responsible{Role: p.Flow.Reviewer.Role}}
	if operation.MayActOnBatch(operation.BatchActGoOn, n.viewer, people, st.Approval.Roles()) != nil {
		return ""
	}
	return pathBatch(x.ID) + "/" + string(operation.BatchActGoOn)
}
