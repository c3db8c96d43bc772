package views

import (
	"strings"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// batchApprovedTitle is the first column's title, batchApprovedQuestion what it answers.
func batchApprovedTitle(p *text.Printer, m BatchModel) string {
	switch {
	case m.Head.State == operation.BatchRejected:
		return p.T("approved.title_rejected", "Number", m.Approved.Number)
	case m.Head.State == operation.BatchCancelled:
		return p.T("approved.title_cancelled")
	case batchOpen(m.Head.State):
		return p.T("approved.title_open", "Number", m.Approved.Number)
	}
	return p.T("batch.approved", "Number", m.Approved.Number)
}

func batchApprovedQuestion(p *text.Printer, m BatchModel) string {
	switch {
	case m.Head.State == operation.BatchRejected:
		return p.T("approved.question_rejected")
	case m.Head.State == operation.BatchCancelled:
		return p.T("approved.question_cancelled")
	case batchOpen(m.Head.State):
		return p.T("approved.question_open")
	}
	return p.T("approved.question")
}

// versionHash is the shown version as the list of versions wants it.
func versionHash(a BatchApproved) *VersionView { return &VersionView{Number: a.Number, Hash: a.Hash} }

// variesText says how much a place varies.
func variesText(p *text.Printer, f BatchPlace) string {
	var out []string
	switch {
	case f.AtLeast:
		out = append(out, p.N("batch.distinct_least", f.Distinct))
	case f.Distinct > 0:
		out = append(out, p.N("batch.distinct", f.Distinct))
	}
	switch {
	case f.Longest == 0:
	case f.Shortest == f.Longest:
		out = append(out, p.N("batch.length_all", f.Longest))
	default:
		out = append(out, p.T("batch.lengths", "Shortest", f.Shortest, "Longest", f.Longest))
	}
	return strings.Join(out, " · ")
}

// leftOutText says how many rows are left out, and why.
func leftOutText(p *text.Printer, c BatchCounts) string {
	return p.N("batch.left_out_why", c.LeftOut(), "Duplicates", c.Duplicates, "Suppressed", c.Suppressed)
}

// lineIcon and lineWhy say what is to be known of a row.
func lineIcon(r BatchItemLine) string {
	switch {
	case len(r.Problems) > 0:
		return "warning"
	case r.Excluded == operation.ExcludedDuplicate:
		return "duplicate"
	case r.Excluded == operation.ExcludedSuppressed:
		return "lock"
	case r.State != "":
		return string(r.State)
	case r.Change == "added":
		return "plus"
	case r.Change == "dropped":
		return "minus"
	}
	return "circle"
}

func lineWhy(p *text.Printer, r BatchItemLine) string {
	switch {
	case len(r.Problems) > 0:
		words := make([]string, len(r.Problems))
		for i, x := range r.Problems {
			words[i] = problemText(p, x)
		}
		return strings.Join(words, " ")
	case r.Excluded != "":
		return p.T("batch.excluded." + string(r.Excluded))
	case r.State != "":
		return p.T("state." + string(r.State))
	case r.Change != "":
		return p.T("batch.line." + r.Change)
	case r.Unsent:
		return p.T("batch.part." + PartUnsent)
	}
	return p.T("batch.part." + PartToCome)
}

// wordsOf lists what the exclusions are called, for the filter.
var exclusionWords = []string{string(operation.ExcludedDuplicate), string(operation.ExcludedSuppressed)}

// batchProblems are the problems that have a sentence of their own.
var batchProblems = []string{"item", "empty", "unresolved", "merge_tag", "markup", "key", "total", "content", "cells", "other"}

// share writes a part of so many in percent.
func share(p *text.Printer, n, of int) string { return p.Share(int64(n), int64(of)) }
