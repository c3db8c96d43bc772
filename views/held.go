package views

import (
	"holdpoint/operation"
	"holdpoint/views/text"
)

// heldBy is what holds an approved operation back that would else be taken at once.
type heldBy int

const (
	heldByNothing heldBy = iota
	heldByPause
	heldByOriginal // what it replaces is open again
)

// heldBy says what holds the operation back.
func (h Head) heldBy() heldBy {
	switch {
	case h.State != operation.Ready && h.State != operation.RetryScheduled:
		return heldByNothing
	case len(h.Paused) > 0:
		return heldByPause
	case h.Original == "open":
		return heldByOriginal
	}
	return heldByNothing
}

// heldSays says what the state means for an operation that is held back; "" = it is not.
func heldSays(p *text.Printer, h Head) string {
	switch h.heldBy() {
	case heldByPause:
		return p.T("held.says.paused")
	case heldByOriginal:
		return p.T("held.says.original")
	}
	return ""
}

// heldTried says when its first attempt starts; "" = it is not held back.
func heldTried(p *text.Printer, h Head) string {
	switch h.heldBy() {
	case heldByPause:
		return p.T("held.tried.paused")
	case heldByOriginal:
		return p.T("held.tried.original")
	}
	return ""
}

// originalLink leads to the operation that must be settled first; nil = none must.
func (h Head) originalLink() *Link {
	if h.heldBy() != heldByOriginal {
		return nil
	}
	if h.Before != nil {
		return h.Before
	}
	return h.Replaces
}
