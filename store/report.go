package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// reportSettles is how long after a period's end its review is made: by then every
// transaction that wrote into it has ended.
const reportSettles = 10 * time.Minute

// reviewFormat is the version of the facts' form.
const reviewFormat = 1

// MakeReports makes every review that is due and missing: of the whole installation and
// of each flow, for each period since the newest one, oldest first. Without any, it
// begins with the newest period that is over. It returns how many it made. Two processes
// make each once.
func (s *Store) MakeReports(ctx context.Context, ch NoticeChannels) (int, error) {
	due, err := s.dueReports(ctx)
	made := 0
	for _, d := range due {
		_, e := s.MakeReport(ctx, ch, d.period, d.flow)
		switch {
		case e == nil:
			made++
		case errors.Is(e, ErrReportMade):
		default:
			err = errors.Join(err, e)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return made, err
}

// dueReport is a review that is to be made.
type dueReport struct {
	flow   string
	period operation.Period
}

// reportRounds bounds how many missing reviews of one kind and scope are made at one look.
const reportRounds = 60

func (s *Store) dueReports(ctx context.Context) ([]dueReport, error) {
	var now time.Time
	var rows []struct {
		Flow   string               `db:"flow"`
		Kind   operation.ReportKind `db:"kind"`
		Since  time.Time            `db:"since"` // of the installation, or of the flow
		Key    string               `db:"key"`   // of the newest review
		Newest *time.Time           `db:"newest"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		if err := q.GetContext(ctx, &now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		return q.SelectContext(ctx, &rows, `SELECT x.flow, k.kind, x.since, COALESCE(r.period, '') AS key, r.to_at AS newest
			FROM (SELECT '' AS flow, created_at AS since FROM installation UNION ALL SELECT flow, min(created_at) FROM flow_versions GROUP BY flow) x
			CROSS JOIN (VALUES ('weekly'), ('monthly')) AS k(kind)
			LEFT JOIN LATERAL (SELECT period, to_at FROM reports WHERE kind = k.kind AND flow = x.flow ORDER BY to_at DESC LIMIT 1) r ON true ORDER BY x.flow, k.kind`)
	})
	if err != nil {
		return nil, err
	}
	var out []dueReport
	for _, r := range rows {
		p := operation.LastPeriod(r.Kind, now.Add(-reportSettles), s.zone)
		if r.Newest != nil { // go on where the newest one ended, whatever the zone was then
			if p = operation.Running(r.Kind, r.Newest.Add(12*time.Hour), s.zone); p.Key == r.Key {
				p = p.Next(s.zone)
			}
		}
		for range reportRounds {
			if p.To.Add(reportSettles).After(now) || !r.Since.Before(p.To) {
				break
			}
			out = append(out, dueReport{r.Flow, p})
			p = p.Next(s.zone)
		}
	}
	slices.SortStableFunc(out, func(a, b dueReport) int { return a.period.To.Compare(b.period.To) })
	return out, nil
}

// ErrReportMade is a review that is there already.
var ErrReportMade = errors.New("this review is made already")

// ErrReportEarly is a review of a period that is not over.
var ErrReportEarly = errors.New("the period of this review is not over")

// MakeReport makes one review and plans its notices. Its facts are those of now; they
// never change afterwards. flow "" = the whole installation.
func (s *Store) MakeReport(ctx context.Context, ch NoticeChannels, period operation.Period, flow string) (operation.ReportID, error) {
	p := &reportPass{flow: flow, zone: s.zone, now: reportSpan{from: period.From, to: period.To}, then: reportSpan{from: period.Before, to: period.From}}
	var madeAt time.Time
	err := s.snapshot(ctx, func(t *tx) error {
		p.tx, p.facts, p.items = t, nil, nil
		var err error
		if madeAt, err = t.clock(); err != nil {
			return err
		}
		if madeAt.Before(period.To) {
			return ErrReportEarly
		}
		return p.make()
	})
	if err != nil {
		return "", err
	}
	f := operation.ReviewFacts{Format: reviewFormat, Kind: period.Kind, Period: period.Key, Flow: flow, Zone: s.zone.String(), From: utcText(period.From), To: utcText(period.To),
		Before: utcText(period.Before), MadeAt: utcText(madeAt), Lines: p.facts}
	facts, err := f.Canonical()
	if err != nil {
		return "", err
	}
	id := operation.ReportID(newID("rep"))
	return id, s.writeReport(ctx, ch, id, period, f, facts, madeAt, p.items)
}

func utcText(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func (s *Store) writeReport(ctx context.Context, ch NoticeChannels, id operation.ReportID, period operation.Period, f operation.ReviewFacts, facts []byte, madeAt time.Time, items []reportItem) error {
	hash := sha256.Sum256(facts)
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(`INSERT INTO reports (id, kind, period, flow, zone, from_at, to_at, before_at, facts, facts_hash, made_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT ON CONSTRAINT reports_once DO NOTHING`, string(id), string(f.Kind), f.Period, f.Flow, f.Zone, period.From, period.To, period.Before, string(facts), hash[:], madeAt)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrReportMade
		}
		if err := t.addItems(id, items); err != nil {
			return err
		}
		if err := t.enter(System("job"), madeAt, operation.SubjectReport, string(id), "make_report", "", "kind", string(f.Kind), "period", f.Period, "flow", f.Flow, "facts", hexOf(hash[:])); err != nil {
			return err
		}
		return t.tellReport(ch, id, f.Flow, madeAt)
	})
}

// tellReport plans the notices of a review for everybody who may see it: each has chosen
// whether they want any.
func (t *tx) tellReport(ch NoticeChannels, id operation.ReportID, flow string, now time.Time) error {
	p := &noticePass{tx: t, channels: ch, now: now}
	people, err := p.peopleOf(flow)
	if err != nil {
		return err
	}
	var who []operation.UserID
	for _, x := range people {
		if flow != "" || seesWhole(x) {
			who = append(who, x.ID)
		}
	}
	p.add(noticeRow{Kind: operation.NoticeReport, Subject: string(id), Flow: flow, Since: now, Step: operation.StepAsk}, nil, who)
	return p.writeNotices()
}

// seesWhole reports whether a person, with the roles that they hold for every flow, may
// see the reviews of the whole installation.
func seesWhole(x operation.Person) bool {
	return x.Has(operation.RoleAdmin) || x.Has(operation.RoleAuditor) || x.Has(operation.RoleOpsOwner)
}

// seesReport reports whether the viewer may see reviews of this scope.
func (v Viewer) seesReport(flow string) bool {
	if flow != "" {
		return v.Sees(flow, "")
	}
	who := v.In("")
	return v.Active && !v.Token && seesWhole(who)
}

// Zone is the installation's time zone: its weeks and months begin there.
func (s *Store) Zone() *time.Location { return s.zone }
