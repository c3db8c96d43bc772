package store

// ListStatement gives the statement of one page of operations, for tests of its plan.
func (f OperationFilter) ListStatement(v Viewer) (string, []any) {
	f.Limit = 50
	return f.query(v)
}

// Statement gives the statement of one page of the history, for tests of its plan.
func (f HistoryFilter) Statement(v Viewer) (string, []any) {
	f.Limit = 50
	q := f.page(v)
	return q.sql, q.args
}

// GroupStatements are the statements that look up and change a group's rows by their keys,
// and what comes before them in their transactions, for tests of their plans.
var GroupStatements = struct{ Plans, Record string }{rowByRow, recordGroupSQL}
