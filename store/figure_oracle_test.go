package store_test

import (
	"database/sql"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// oracle counts figures in plain Go from the raw rows: another way to the same numbers.
type oracle struct {
	t          *testing.T
	entries    map[string][]entryRaw // by operation, in order
	place      map[string][2]string  // flow and destination of an operation
	attempts   []attemptRaw
	events     []eventRaw
	deliveries []deliveryRaw
	cases      []caseRaw
}

type entryRaw struct {
	at               time.Time
	action, from, to string
	links            string
}

type attemptRaw struct {
	op, key, clearance, kind string
	number                   int
	protected                bool
	claimed                  time.Time
	dispatched, ended        sql.NullTime
	outcome                  sql.NullString
}

type eventRaw struct {
	id     string
	at     time.Time
	flows  []string
	linked time.Time // when it reached them; zero = it did not
}

type deliveryRaw struct {
	at    time.Time
	event string
}

type caseRaw struct {
	op             string
	at             time.Time
	inHand, active float64
}

func loadFacts(t *testing.T, f *storetest.Fixture) *oracle {
	o := &oracle{t: t, entries: map[string][]entryRaw{}, place: map[string][2]string{}}
	rows := func(q string, scan func(*sql.Rows) error) {
		t.Helper()
		r, err := f.Owner.Query(q)
		ok(t, err)
		defer r.Close()
		for r.Next() {
			ok(t, scan(r))
		}
		ok(t, r.Err())
	}
	rows(`SELECT id, flow, destination FROM operations`, func(r *sql.Rows) error {
		var id, flow, dest string
		err := r.Scan(&id, &flow, &dest)
		o.place[id] = [2]string{flow, dest}
		return err
	})
	rows(`SELECT subject_id, at, action, from_state, to_state, links FROM history WHERE subject_kind = 'operation' ORDER BY subject_id, seq`, func(r *sql.Rows) error {
		var op string
		var e entryRaw
		err := r.Scan(&op, &e.at, &e.action, &e.from, &e.to, &e.links)
		o.entries[op] = append(o.entries[op], e)
		return err
	})
	rows(`SELECT operation_id, key, clearance_id, kind, number, protected, claimed_at, dispatched_at, ended_at, outcome FROM attempts ORDER BY number`, func(r *sql.Rows) error {
		var a attemptRaw
		err := r.Scan(&a.op, &a.key, &a.clearance, &a.kind, &a.number, &a.protected, &a.claimed, &a.dispatched, &a.ended, &a.outcome)
		o.attempts = append(o.attempts, a)
		return err
	})
	o.loadIncoming(rows)
	rows(`SELECT c.operation_id, c.closed_at, (SELECT sum(CAST(EXTRACT(EPOCH FROM x.released_at - x.taken_at) * 1000 AS bigint)) / 1000.0 FROM case_holds x WHERE x.case_id = c.id)
			+ COALESCE((SELECT sum(delta_ms) / 1000.0 FROM case_corrections k WHERE k.case_id = c.id AND clock = 'in_hand'), 0),
			COALESCE((SELECT sum(active_ms) / 1000.0 FROM case_active v WHERE v.case_id = c.id), 0) + COALESCE((SELECT sum(delta_ms) / 1000.0 FROM case_corrections k WHERE k.case_id = c.id AND clock = 'active'), 0)
		FROM recovery_cases c WHERE closed_at IS NOT NULL AND EXISTS (SELECT 1 FROM case_holds x WHERE x.case_id = c.id)`, func(r *sql.Rows) error {
		var c caseRaw
		err := r.Scan(&c.op, &c.at, &c.inHand, &c.active)
		o.cases = append(o.cases, c)
		return err
	})
	return o
}

func (o *oracle) loadIncoming(rows func(string, func(*sql.Rows) error)) {
	at := map[string]int{}
	rows(`SELECT e.id, e.received_at, COALESCE((SELECT string_agg(DISTINCT r.flow, ',') FROM event_runs x JOIN runs r ON r.id = x.run_id WHERE x.event_id = e.id), ''),
		(SELECT decided_at FROM held_decisions d WHERE d.event_id = e.id AND decision = 'release') FROM events e`, func(r *sql.Rows) error {
		var e eventRaw
		var flows string
		var released sql.NullTime
		err := r.Scan(&e.id, &e.at, &flows, &released)
		if flows != "" {
			e.flows = strings.Split(flows, ",")
		}
		e.linked = released.Time
		at[e.id] = len(o.events)
		o.events = append(o.events, e)
		return err
	})
	rows(`SELECT COALESCE(event_id, ''), received_at, verdict, reason FROM deliveries ORDER BY received_at, id`, func(r *sql.Rows) error {
		var d deliveryRaw
		var verdict, reason string
		err := r.Scan(&d.event, &d.at, &verdict, &reason)
		o.deliveries = append(o.deliveries, d)
		if i, known := at[d.event]; known && len(o.events[i].flows) > 0 && o.events[i].linked.IsZero() &&
			(verdict == "accepted" || verdict == "repeated") && reason != "no flow is triggered by it" {
			o.events[i].linked = d.at
		}
		return err
	})
}

func doubtful(s string) bool { return operation.State(s).Unresolved() }

func many(e entryRaw) bool {
	return e.action == "duplicate_suspected" || e.action == "lookup" && e.to != "in_progress" && strings.Contains(e.links, `"result":"many"`)
}

func doubled(e entryRaw) bool {
	return (e.action == "effect" || e.action == "more_evidence") && strings.Contains(e.links, `"duplicate":"`)
}

// asked says what the oracle counts.
type asked struct {
	seen        func(flow string) bool // flows that the viewer sees
	whole       bool                   // nothing is narrowed by flow
	destination string
	from, to    time.Time
}

func (q asked) in(at time.Time) bool { return !at.Before(q.from) && at.Before(q.to) }

func (o *oracle) takes(q asked, op string) bool {
	p := o.place[op]
	return q.seen(p[0]) && (q.destination == "" || q.destination == p[1])
}

// value gives a figure, and for times their exact quantiles.
func (o *oracle) value(f operation.Figure, q asked) store.FigureValue {
	var v store.FigureValue
	var secs []float64
	each := func(fn func(op string, i int, e entryRaw, all []entryRaw)) {
		for op, all := range o.entries {
			if o.takes(q, op) {
				for i, e := range all {
					if q.in(e.at) {
						fn(op, i, e, all)
					}
				}
			}
		}
	}
	first := func(is func(entryRaw) bool) (n int64) {
		each(func(_ string, i int, e entryRaw, all []entryRaw) {
			if is(e) && !slices.ContainsFunc(all[:i], is) {
				n++
			}
		})
		return n
	}
	if o.count(f, q, &v, each, first) {
		return v
	}
	switch f {
	case operation.FigureUnresolved:
		for op, all := range o.entries {
			last := ""
			for _, e := range all {
				if e.at.Before(q.to) {
					last = e.to
				}
			}
			if o.takes(q, op) && doubtful(last) {
				v.N++
			}
		}
		return v
	case operation.FigureApprovalDelay:
		each(func(_ string, i int, e entryRaw, all []entryRaw) {
			if e.from == "pending_approval" && (e.to == "ready" || e.to == "waiting") {
				for j := i - 1; j >= 0; j-- {
					if all[j].to == "pending_approval" && all[j].from != "pending_approval" {
						secs = append(secs, e.at.Sub(all[j].at).Seconds())
						break
					}
				}
			}
		})
	case operation.FigureInHand, operation.FigureActive:
		for _, c := range o.cases {
			if q.in(c.at) && o.takes(q, c.op) {
				x := c.inHand
				if f == operation.FigureActive {
					x = c.active
				}
				secs = append(secs, max(x, 0))
			}
		}
	}
	v.N = int64(len(secs))
	if v.N > 0 {
		sort.Float64s(secs)
		v.Median = time.Duration(secs[(len(secs)+1)/2-1] * float64(time.Second)).Round(time.Second)
		v.P90 = time.Duration(secs[(len(secs)*9+9)/10-1] * float64(time.Second)).Round(time.Second)
	}
	return v
}

// count counts the figures that are counts and rates.
func (o *oracle) count(f operation.Figure, q asked, v *store.FigureValue, each func(func(string, int, entryRaw, []entryRaw)), first func(func(entryRaw) bool) int64) bool {
	confirmed := func(by string) (n int64) {
		each(func(_ string, _ int, e entryRaw, _ []entryRaw) {
			if e.to == "confirmed" && e.from != "confirmed" && strings.Contains(e.links, `"by":"`+by+`"`) {
				n++
			}
		})
		return n
	}
	switch f {
	case operation.FigureEvents:
		for _, e := range o.events {
			if q.whole && q.in(e.at) || !q.whole && slices.ContainsFunc(e.flows, q.seen) && q.in(e.linked) {
				v.N++
			}
		}
	case operation.FigureDeliveries:
		for _, d := range o.deliveries {
			i := slices.IndexFunc(o.events, func(e eventRaw) bool { return e.id == d.event })
			if q.in(d.at) && (q.whole || i >= 0 && slices.ContainsFunc(o.events[i].flows, q.seen) && !o.events[i].linked.After(d.at)) {
				v.N++
			}
		}
	case operation.FigureAttempts:
		for _, a := range o.attempts {
			if q.in(a.claimed) && o.takes(q, a.op) {
				v.N++
			}
		}
	case operation.FigureDestinationErrors:
		for _, a := range o.attempts {
			if a.dispatched.Valid && a.ended.Valid && q.in(a.ended.Time) && o.takes(q, a.op) {
				v.Of++
				if a.outcome.String != "confirmed" {
					v.N++
				}
			}
		}
	case operation.FigureKeyReuse:
		sent := map[string]int{}
		for _, a := range o.attempts {
			if a.dispatched.Valid {
				if sent[a.op+a.key]++; sent[a.op+a.key] == 2 && a.protected && q.in(a.dispatched.Time) && o.takes(q, a.op) {
					v.N++
				}
			}
		}
	case operation.FigureEffectsDestination:
		v.N = confirmed("destination")
	case operation.FigureEffectsPerson:
		v.N = confirmed("person")
	case operation.FigureUnresolvedOccurred:
		each(func(_ string, _ int, e entryRaw, _ []entryRaw) {
			if doubtful(e.to) && !doubtful(e.from) {
				v.N++
			}
		})
	case operation.FigureDuplicatesSuspected:
		v.N = first(many)
	case operation.FigureDuplicatesConfirmed:
		v.N = first(doubled)
	case operation.FigureDuplicateRate:
		v.N, v.Of = first(doubled), confirmed("destination")+confirmed("person")
	case operation.FigureAdopted:
		each(func(_ string, _ int, e entryRaw, _ []entryRaw) {
			if e.from == "" && e.to == "review" {
				v.N++
			}
		})
	case operation.FigureReexecutionErrors:
		each(func(op string, i int, e entryRaw, all []entryRaw) {
			if e.action == "approve_reexecution" {
				v.Of++
			}
			if o.wasError(op, i, e, all) {
				v.N++
			}
		})
	default:
		return false
	}
	return true
}

// wasError: an approved re-execution whose effect existed after all.
func (o *oracle) wasError(op string, i int, e entryRaw, all []entryRaw) bool {
	approved := -1
	for j := range i {
		if all[j].action == "approve_reexecution" {
			approved = j
		}
	}
	if approved < 0 {
		return false
	}
	sent, ended := false, false
	for _, x := range all[approved+1 : i] {
		sent, ended = sent || x.action == "dispatch", ended || x.action == "refuse_reexecution"
	}
	earlierProof := func(x entryRaw) bool {
		for n, a := range o.attempts {
			if a.op == op && a.claimed.Before(all[approved].at) && strings.Contains(x.links, `"attempt":"`+o.attemptID(n)+`"`) {
				return true
			}
		}
		return false
	}
	confirms := func(x entryRaw) bool { return x.to == "confirmed" && x.from != "confirmed" }
	if confirms(e) && (!sent && !ended || earlierProof(e)) {
		return true
	}
	return doubled(e) && !slices.ContainsFunc(all[:i], doubled) && sent &&
		!slices.ContainsFunc(all[approved+1:i], func(x entryRaw) bool { return confirms(x) && earlierProof(x) })
}

// attemptID is not kept with the raw attempts: the property test brings no such proof.
func (o *oracle) attemptID(int) string { return "none" }
