package views

import (
	"strconv"

	"holdpoint/operation"
)

// limitFamilies adds the keys of limits and reviews that are made of a word.
func limitFamilies(f map[string][]string) {
	f["limits.figure."], f["limits.result."], f["limits.span."], f["limits.ending."] = names(operation.Figures), limitResults, limitSpans, breachEndings
	f["limits.side."] = names([]operation.LimitSide{operation.LimitOver, operation.LimitUnder})
	for _, family := range []string{"reports.kind.", "reports.heading.", "reports.heading_flow."} {
		f[family] = names(operation.ReportKinds)
	}
	f["reports.section."], f["reports.hint."], f["reports.line."] = names(operation.ReviewSections), names(operation.ReviewSections), ReportLines
	f["limits.field."] = append([]string{"hours"}, limitFields...)
	for m := range 12 {
		f["reports.month."] = append(f["reports.month."], strconv.Itoa(m+1))
	}
	f["limits.hint."] = []string{"value", "least", "margin", "hold", "remind", "due", "again"}
}
