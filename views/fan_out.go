package views

import (
	"strings"

	"holdpoint/views/text"
)

// fanOutWords says how a stage fans out, a sentence each; none = it is one operation.
func fanOutWords(p *text.Printer, x *FlowFanOut) []string {
	if x == nil {
		return nil
	}
	out := []string{p.T("fanout.list", "List", Plain(x.In))}
	if x.Key != "" {
		out = append(out, p.T("fanout.key", "Key", Plain(x.Key)))
	} else {
		out = append(out, p.T("fanout.key_recipient"))
	}
	if x.After != "" {
		out = append(out, p.T("fanout.after", "Stage", Plain(x.After)))
	}
	if len(x.Required) > 0 {
		out = append(out, p.T("fanout.required", "Fields", Plain(strings.Join(x.Required, ", "))))
	}
	if x.Canary > 0 {
		out = append(out, p.N("fanout.canary", x.Canary))
	}
	if x.Total != "" {
		out = append(out, p.T("fanout.total", "Total", Plain(strings.TrimSpace(x.Total+" "+x.Currency))))
	}
	share := func(thousandths int) string { return p.Percent(int64(thousandths) * 10) }
	return append(out, p.N("fanout.pause", x.Last, "Errors", share(x.Errors), "Unknown", share(x.Unknown), "Bounced", share(x.Bounced)))
}
