package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// unsentFlash says that something was approved and why it is not sent now all the same, in
// the reader's language.
func unsentFlash(c echo.Context, why *operation.Refusal) (key string, args []string) {
	return views.FlashApprovedUnsent, []string{"Why", views.RefusalText(web.VisitOf(c).Printer(), why)}
}

// holds gives what keeps an operation from being sent right after its approval; nil = nothing
// does, or a job has taken it meanwhile.
func (s *site) holds(c echo.Context, p *store.OperationPage) *operation.Refusal {
	if p.Gate == nil {
		return nil
	}
	switch p.State {
	case operation.Ready, operation.Waiting:
	case operation.Review:
		if p.Facts.Suppressed { // a job asked the gate already
			return operation.Refuse(operation.CodeSuppressed)
		}
	default:
		return nil
	}
	b, err := s.builder(c, p, typed{})
	if err != nil {
		s.Log.Warn("the gate's reason not put into words", "id", web.RequestID(c), "err", err)
		return p.Gate
	}
	return b.p.Gate
}

// batchHolds gives what keeps a batch from being sent right after its approval; nil = nothing.
func batchHolds(p *store.BatchPage, lang string) *operation.Refusal {
	for _, x := range p.Pauses {
		switch operation.SubjectKind(x.Kind) {
		case operation.SubjectFlow:
			return operation.Refuse(operation.CodePausedFlow)
		case operation.SubjectDestination:
			return operation.Refuse(operation.CodePausedDestination)
		default:
			return operation.Refuse(operation.CodePausedAll)
		}
	}
	switch {
	case p.Paused():
		return operation.Refuse(operation.CodePausedBatch)
	case len(p.Earlier) > 0:
		return inWords(operation.Refuse(operation.CodeEarlierStage, "stage", p.Earlier[0]), p.Def, lang, nil)
	}
	return nil
}
