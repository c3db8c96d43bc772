package store

import (
	"time"

	"holdpoint/operation"
)

// LimitNotice is what a notice about a limit says: figures and settings, no content.
type LimitNotice struct {
	LimitSettings
	// Measured is what is measured now, or, of a notice that it is back, what was measured
	// then. Worst is the furthest that the breach went.
	Measured, Worst operation.Measure
	Since           time.Time // the breach
	Back            bool
	Titles          LimitTitles
}

// LimitTitles are the titles of what a limit is narrowed to, by language; nil = it has none.
type LimitTitles struct{ Flow, Destination, Source map[string]string }

// limitTitles reads them.
func (t *tx) limitTitles(l LimitSettings) (out LimitTitles, err error) {
	names := t.s.titler(t.ctx, t)
	for _, x := range []struct {
		name string
		to   *map[string]string
		read func(string) (map[string]string, error)
	}{{l.Flow, &out.Flow, names.flow}, {l.Destination, &out.Destination, names.destination}, {l.Source, &out.Source, names.source}} {
		if x.name == "" {
			continue
		}
		if *x.to, err = x.read(x.name); err != nil {
			return out, err
		}
	}
	return out, nil
}

// limitNotice reads what a notice about a breach tells of.
func (c *noticeClaim) limitNotice(n noticeSent) (*LimitNotice, error) {
	var b struct {
		LimitSettings
		OpenedAt   time.Time `db:"opened_at"`
		Worst      int64     `db:"worst"`
		WorstParts int64     `db:"worst_parts"`
		N          int64     `db:"n"`
		Parts      int64     `db:"parts"`
	}
	if err := c.get(&b, `SELECT l.figure, l.flow, l.destination, l.source, l.side, l.value, l.span_hours, b.opened_at, b.worst, b.worst_parts,
		COALESCE(CASE WHEN $2 THEN b.back ELSE r.measured END, b.measured) AS n, COALESCE(CASE WHEN $2 THEN b.back_parts ELSE r.parts END, b.parts) AS parts
		FROM limit_breaches b JOIN limits l ON l.id = b.limit_id LEFT JOIN limit_readings r ON r.limit_id = l.id WHERE b.id = $1`, n.Subject, n.Kind == operation.NoticeLimitBack); err != nil {
		return nil, err
	}
	titles, err := c.limitTitles(b.LimitSettings)
	return &LimitNotice{LimitSettings: b.LimitSettings, Titles: titles, Measured: measureOf(b.Figure, b.N, b.Parts), Worst: measureOf(b.Figure, b.Worst, b.WorstParts), Since: b.OpenedAt,
		Back: n.Kind == operation.NoticeLimitBack}, err
}

// figures adds to an item what a notice about a limit or a review says.
func (c *noticeClaim) figures(n noticeSent, i *NoticeItem) (err error) {
	switch n.Kind {
	case operation.NoticeLimit, operation.NoticeLimitBack:
		i.Limit, err = c.limitNotice(n)
	case operation.NoticeReport:
		i.Report, err = c.reportNotice(n)
	case operation.NoticeTask:
		i.Task, err = c.taskNotice(n)
	}
	return err
}
