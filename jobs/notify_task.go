package jobs

import (
	"strconv"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views/text"
)

// taskStep names the step of an improvement task's notice in the catalogues.
func taskStep(i store.NoticeItem) string {
	switch {
	case i.Step == operation.StepEscalate:
		return "escalated"
	case i.Step == operation.StepOverdue || i.Task.Late:
		return "overdue"
	case i.Step == operation.StepRemind:
		return "remind"
	}
	return "new"
}

// taskHeading is a notice about an improvement task in one line.
func taskHeading(p *text.Printer, i store.NoticeItem) string {
	return p.T("notice.task."+taskStep(i), "Title", titleOf(p, i), "Number", strconv.FormatInt(i.Task.Number, 10))
}
