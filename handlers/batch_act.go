package handlers

import (
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// openBatchAct shows the form of what is done to a whole batch, where the viewer may do it
// and the batch takes it now; else it says why not.
func (s *site) openBatchAct(c echo.Context, a operation.BatchAct) error {
	if err := s.whoActs(c, a); err != nil {
		return err
	}
	p, err := s.actedBatch(c)
	if err != nil {
		return err
	}
	if r := takesNow(p.Batch, a); r != nil {
		return r
	}
	return s.batchActPage(c, a)
}

// whoActs refuses whoever may not do this to the batch of the address, by the one rule.
func (s *site) whoActs(c echo.Context, a operation.BatchAct) error {
	p, err := s.actedBatch(c)
	if err != nil {
		return err
	}
	b, err := s.batchBuilder(c, p, typed{})
	if err != nil {
		return err
	}
	if r := b.mayAct(a); r != nil {
		return r
	}
	return nil
}

func (s *site) actedBatch(c echo.Context) (*store.BatchPage, error) {
	id := c.Param("id")
	if !operation.ValidID("bat", id) {
		return nil, store.ErrNotFound
	}
	return s.Store.FindBatch(c.Request().Context(), web.VisitOf(c).Actor(), operation.BatchID(id))
}

// takesNow refuses what a batch does not take in its state: to resume what is not paused, to
// pause what is, to cancel what is approved. What is closed without its stage has a page of
// its own that says so.
func takesNow(b store.Batch, a operation.BatchAct) *operation.Refusal {
	state := string(b.State)
	switch {
	case a == operation.BatchActGoOn:
		return nil
	case a != operation.BatchActCancel && b.Stopped() && !b.State.Closed():
		state = "stopping"
	case a == operation.BatchActPause && b.Paused():
		state = "paused"
	case a == operation.BatchActResume && !b.Paused(), !b.State.Takes(a):
	default:
		return nil
	}
	return operation.Refuse(operation.CodeForbiddenMove, "state", state)
}
