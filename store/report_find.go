package store

import (
	"context"
	"encoding/json"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// ReportRow is one review in the list.
type ReportRow struct {
	ID       operation.ReportID   `db:"id"`
	Kind     operation.ReportKind `db:"kind"`
	Period   string               `db:"period"`
	Flow     string               `db:"flow"` // "" = the whole installation
	Zone     string               `db:"zone"`
	From     time.Time            `db:"from_at"`
	To       time.Time            `db:"to_at"`
	Before   time.Time            `db:"before_at"` // when the period before began
	MadeAt   time.Time            `db:"made_at"`
	Comments int                  `db:"comments"`
	// SignedBy is who signed it last, "" = nobody. Stale: comments came after that.
	SignedBy string     `db:"signed_by"`
	SignedAt *time.Time `db:"signed_at"`
	Covered  int        `db:"covered"` // comments that the signature covers
	// Facts are the canonical bytes that were stored.
	Facts string `db:"facts"`
	Hash  []byte `db:"facts_hash"`

	Lines []operation.ReviewLine `db:"-"`
}

// Number gives the present number of a line without a name; ok is false where there is
// none.
func (r ReportRow) Number(code string) (n operation.ReviewNumber, ok bool) {
	for _, l := range r.Lines {
		if l.Code == code && l.Name == "" {
			return l.Now, true
		}
	}
	return n, false
}

const reportSelect = `SELECT r.id, r.kind, r.period, r.flow, r.zone, r.from_at, r.to_at, r.before_at, r.made_at, r.facts, r.facts_hash,
	(SELECT count(*) FROM report_comments c WHERE c.report_id = r.id) AS comments, COALESCE(u.name, '') AS signed_by, g.at AS signed_at, COALESCE(g.comments, 0) AS covered
	FROM reports r LEFT JOIN LATERAL (SELECT user_id, at, comments FROM report_signatures s WHERE s.report_id = r.id ORDER BY s.number DESC LIMIT 1) g ON true LEFT JOIN users u ON u.id = g.user_id`

func (r *ReportRow) read() error {
	var f operation.ReviewFacts
	if err := json.Unmarshal([]byte(r.Facts), &f); err != nil {
		return err
	}
	r.Lines = f.Lines
	return nil
}

// ReportFilter narrows the list of reviews.
type ReportFilter struct {
	Kind   operation.ReportKind // "" = both
	Flow   *string              // nil = all scopes; "" = those of the whole installation
	Cursor string
	Limit  int // 0 = 50
}

// ReportList is one page of reviews, newest period first, and of each period that of the whole
// installation first.
type ReportList struct {
	Rows       []ReportRow
	Next, Prev string
}

// reportPlace is where a review r stands in its period, the last first: place gives the same.
const reportPlace = `(CASE WHEN r.flow = '' THEN '1' ELSE '0' END || r.id) COLLATE "C"`

func (r ReportRow) place() string {
	if r.Flow == "" {
		return "1" + string(r.ID)
	}
	return "0" + string(r.ID)
}

// ListReports lists the reviews that the viewer may see.
func (s *Store) ListReports(ctx context.Context, a Actor, f ReportFilter) (out ReportList, err error) {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return out, err
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	all, flows := v.seenFlows()
	seen := textArray(flows)
	c, paged := decodeCursor(f.Cursor)
	order, beyond := "r.to_at DESC, "+reportPlace+" DESC", "<"
	if c.Back {
		order, beyond = "r.to_at, "+reportPlace, ">"
	}
	scope, anyScope := "", f.Flow == nil
	if f.Flow != nil {
		scope = *f.Flow
	}
	var rows []ReportRow
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, reportSelect+` WHERE (r.flow <> '' AND ($1 OR r.flow = ANY ($2)) OR r.flow = '' AND $3) AND ($4 = '' OR r.kind = $4) AND ($5 OR r.flow = $6)
			AND (NOT $7 OR (r.to_at, `+reportPlace+`) `+beyond+` ($8, $9)) ORDER BY `+order+` LIMIT $10`,
			all, seen, v.seesReport(""), string(f.Kind), anyScope, scope, paged, storedTime(c.At), c.ID, f.Limit+1)
	})
	if err != nil {
		return out, err
	}
	out.Rows, out.Next, out.Prev = keysetPage(rows, f.Limit, f.Cursor, func(r ReportRow) cursor { return cursor{At: r.To, ID: operation.ID(r.place())} })
	for i := range out.Rows {
		if err := out.Rows[i].read(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// ReportPage is one review with what people said about it.
type ReportPage struct {
	ReportRow
	FlowTitle map[string]string
	Said      []ReportComment
	Signed    []ReportSignature
	// Fingerprint is what a signature would be bound to now: the facts and the comments.
	Fingerprint [32]byte
	// Since is what became of what was counted: by the line's key, how many of its items
	// are settled by now.
	Since map[string]int
	// MaySign and MayComment say what the viewer may do.
	MaySign, MayComment bool
}

// ReportComment is one comment on a section.
type ReportComment struct {
	Number  int                     `db:"number"`
	Section operation.ReviewSection `db:"section"`
	User    operation.UserID        `db:"user_id"`
	Name    string                  `db:"name"`
	Body    string                  `db:"body"`
	At      time.Time               `db:"at"`
}

// ReportSignature is one signature.
type ReportSignature struct {
	Number   int            `db:"number"`
	Name     string         `db:"name"`
	Role     operation.Role `db:"role"`
	Comments int            `db:"comments"` // how many it covers
	Hash     []byte         `db:"hash"`
	At       time.Time      `db:"at"`
}

const commentsSQL = `SELECT c.number, c.section, c.user_id, u.name, c.body, c.at FROM report_comments c JOIN users u ON u.id = c.user_id WHERE c.report_id = $1 ORDER BY c.number`

// canonicalComments gives the comments as signatures cover them.
func canonicalComments(list []ReportComment) []operation.ReviewComment {
	out := make([]operation.ReviewComment, len(list))
	for i, c := range list {
		out[i] = operation.ReviewComment{Number: c.Number, Section: c.Section, User: c.User, At: utcText(c.At), Body: c.Body}
	}
	return out
}

// sinceSQL counts, by line, what of the items of a review is settled now.
const sinceSQL = `SELECT i.line, count(*) AS n FROM report_items i LEFT JOIN operations o ON o.id = i.operation_id LEFT JOIN improvement_tasks k ON k.id = i.item LEFT JOIN incidents c ON c.id = i.item
	LEFT JOIN limit_breaches b ON b.id = i.item WHERE i.report_id = $1 AND CASE i.line
	WHEN 'open_at_end' THEN o.state IN ` + closedStates + `
	WHEN 'unresolved_at_end' THEN o.state NOT IN ` + doubt + `
	WHEN 'unresolved_occurred' THEN o.state NOT IN ` + doubt + `
	WHEN 'adopted' THEN o.state IN ` + closedStates + `
	WHEN 'duplicates_suspected' THEN o.duplicate <> 'suspected'
	WHEN 'tasks_open' THEN k.state <> 'open' WHEN 'tasks_overdue' THEN k.state <> 'open'
	WHEN 'incidents_opened' THEN c.state = 'signed' WHEN 'incidents_open' THEN c.state = 'signed'
	WHEN 'limits_broken' THEN b.closed_at IS NOT NULL ELSE false END GROUP BY i.line`

// SettledLines are the lines of which a review says how much is settled by now.
var SettledLines = []string{"open_at_end", "unresolved_at_end", "unresolved_occurred", "adopted", "duplicates_suspected", "tasks_open", "tasks_overdue", "incidents_opened", "incidents_open", "limits_broken"}

// FindReport reads one review. One that the viewer may not see is not found.
func (s *Store) FindReport(ctx context.Context, a Actor, id operation.ReportID) (*ReportPage, error) {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return nil, err
	}
	p := &ReportPage{Since: map[string]int{}}
	var since []struct {
		Line string `db:"line"`
		N    int    `db:"n"`
	}
	err = s.snapshot(ctx, func(t *tx) error {
		p.Said, p.Signed, since = nil, nil, nil
		if err := t.get(&p.ReportRow, reportSelect+` WHERE r.id = $1`, string(id)); err != nil {
			return err
		}
		if !v.seesReport(p.Flow) {
			return ErrNotFound
		}
		if err := t.list(&p.Said, commentsSQL, string(id)); err != nil {
			return err
		}
		if err := t.list(&since, sinceSQL, string(id)); err != nil {
			return err
		}
		if err := t.list(&p.Signed, `SELECT g.number, u.name, g.role, g.comments, g.hash, g.at FROM report_signatures g JOIN users u ON u.id = g.user_id WHERE g.report_id = $1 ORDER BY g.number`, string(id)); err != nil {
			return err
		}
		role, err := t.signsReport(a, p.Flow)
		p.MaySign, p.MayComment = role != "", v.comments(p.Flow)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, x := range since {
		p.Since[x.Line] = x.N
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	if p.Flow != "" {
		f, _, err := s.Flow(ctx, p.Flow)
		if err != nil {
			return nil, err
		}
		p.FlowTitle = f.Title
	}
	p.Fingerprint, err = operation.ReviewHash(hash32(p.Hash), canonicalComments(p.Said))
	return p, err
}

// comments reports whether the viewer may comment on a review: whoever does more than
// read.
func (v Viewer) comments(flow string) bool {
	who := v.In(flow)
	for _, r := range []operation.Role{operation.RoleAdmin, operation.RoleOpsOwner, operation.RoleApprover, operation.RoleAuthor} {
		if who.Has(r) {
			return true
		}
	}
	return false
}

// ReportItem is one thing behind a number of a review, as it stands now.
type ReportItem struct {
	N         int             `db:"n"`
	Item      string          `db:"item"`
	Operation operation.ID    `db:"operation_id"`
	Title     string          `db:"title"` // of the operation, the incident or the task
	Flow      string          `db:"flow"`
	Place     string          `db:"destination"`
	State     operation.State `db:"state"`  // of the operation now; "" = it is about none
	Number    int64           `db:"number"` // of an incident or a task
	Limit     string          `db:"limit_id"`
}

// ReportItems are the things behind one number of a review.
type ReportItems struct {
	Line operation.ReviewLine
	Rows []ReportItem
	Next int // the place to go on from; 0 = that is all
}

// reportItemsShown is how many items a page shows.
const reportItemsShown = 100

// ListReportItems lists what one line of a review counts, after a place. As many as the
// number says are there in all.
func (s *Store) ListReportItems(ctx context.Context, a Actor, id operation.ReportID, line string, after int) (*ReportPage, ReportItems, error) {
	var out ReportItems
	p, err := s.FindReport(ctx, a, id)
	if err != nil {
		return nil, out, err
	}
	found := false
	for _, l := range p.Lines {
		if _, listed := reportLists[l.Code]; listed && l.Key() == line {
			out.Line, found = l, true
		}
	}
	if !found {
		return nil, out, ErrNotFound
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		out.Rows = nil
		return q.SelectContext(ctx, &out.Rows, `SELECT i.n, i.item, COALESCE(i.operation_id, '') AS operation_id, COALESCE(o.title, c.title, k.title, '') AS title, COALESCE(o.flow, l.flow, '') AS flow,
			COALESCE(o.destination, l.destination, '') AS destination, COALESCE(o.state, '') AS state, COALESCE(c.number, k.number, 0) AS number, COALESCE(b.limit_id, '') AS limit_id
			FROM report_items i LEFT JOIN operations o ON o.id = i.operation_id LEFT JOIN incidents c ON c.id = i.item LEFT JOIN improvement_tasks k ON k.id = i.item
			LEFT JOIN limit_breaches b ON b.id = i.item LEFT JOIN limits l ON l.id = b.limit_id
			WHERE i.report_id = $1 AND i.line = $2 AND i.n > $3 ORDER BY i.n LIMIT $4`, string(id), line, after, reportItemsShown+1)
	})
	if len(out.Rows) > reportItemsShown {
		out.Rows = out.Rows[:reportItemsShown]
		out.Next = out.Rows[reportItemsShown-1].N
	}
	return p, out, err
}

// Listed reports whether what a line counts can be listed.
func Listed(l operation.ReviewLine) bool {
	_, ok := reportLists[l.Code]
	return ok
}

// reportNotice reads what a notice about a review says.
func (c *noticeClaim) reportNotice(n noticeSent) (*ReportNotice, error) {
	var r ReportRow
	if err := c.get(&r, reportSelect+` WHERE r.id = $1`, n.Subject); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	out := &ReportNotice{Kind: r.Kind, From: r.From, To: r.To, Zone: r.Zone, Lines: r.Lines, Titles: map[string]map[string]string{}}
	names := c.s.titler(c.ctx, c.tx)
	for _, l := range r.Lines {
		if l.Name == "" {
			continue
		}
		var err error
		if out.Titles[l.Name], err = names.destination(l.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReportNotice is what a notice about a review says: its numbers, no content.
type ReportNotice struct {
	Kind     operation.ReportKind
	From, To time.Time
	Zone     string
	Lines    []operation.ReviewLine
	Titles   map[string]map[string]string // of the destinations that lines name, by language
}
