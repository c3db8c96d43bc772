package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// openBatchAct asks to confirm what is done to a whole batch, where the viewer may do it and
// the batch takes it now; else it says why not.
func (s *site) openBatchAct(c echo.Context, a operation.BatchAct) error {
	p, err := s.mayActBatch(c, a)
	if err != nil {
		return err
	}
	if r := takesNow(p.Batch, a); r != nil {
		return r
	}
	if err := s.look(c, store.Look{Batch: p.ID, Flow: p.Flow}); err != nil {
		return err
	}
	t, _ := kept(c)
	return s.showBatchAct(c, http.StatusOK, p, a, t)
}

// whoActs refuses whoever may not do this to the batch of the address, by the one rule.
func (s *site) whoActs(c echo.Context, a operation.BatchAct) error {
	_, err := s.mayActBatch(c, a)
	return err
}

// mayActBatch gives the batch of the address to whoever may do this to it.
func (s *site) mayActBatch(c echo.Context, a operation.BatchAct) (*store.BatchPage, error) {
	p, err := s.addressedBatch(c)
	if err != nil {
		return nil, err
	}
	b, err := s.batchBuilder(c, p, typed{})
	if err != nil {
		return nil, err
	}
	if r := b.mayAct(a); r != nil {
		return nil, r
	}
	return p, nil
}

// stands reports that the batch is what the act would make it: paused already, or not paused.
func stands(b store.Batch, a operation.BatchAct) bool {
	return !b.Stopped() && b.State.Takes(a) && (a == operation.BatchActPause && b.Paused() || a == operation.BatchActResume && !b.Paused())
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
