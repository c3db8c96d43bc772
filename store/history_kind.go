package store

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"holdpoint/operation"
)

// place is the flow and the destination that an entry belongs to; "" = none. They are no
// part of the entry: its subject has them for good.
type place struct{ flow, destination string }

// placed says where operations and runs belong, by their ID.
type placed map[string]place

// with adds an operation and its run.
func (p placed) with(o *opRow) placed {
	if p == nil {
		p = placed{}
	}
	p[string(o.ID)] = place{o.Flow, o.Destination}
	p[string(o.RunID)] = place{flow: o.Flow}
	return p
}

// place says where an entry belongs: with its operation or run, with the flow or the
// destination that it is about, or with those that it names.
func (p placed) place(e operation.Entry) place {
	switch e.SubjectKind {
	case operation.SubjectOperation, operation.SubjectRun:
		return p[e.SubjectID]
	case operation.SubjectFlow:
		return place{flow: e.SubjectID}
	case operation.SubjectDestination:
		return place{destination: e.SubjectID}
	case operation.SubjectUser, operation.SubjectSystem:
		return place{} // what concerns people and the installation is not a flow's own
	}
	return place{e.Links["flow"], e.Links["destination"]}
}

// places says where this decision's entries belong.
func (u *unit) places() placed { return u.where.with(u.op) }

// historyKind is what entries are filtered by, as history_kinds holds it.
type historyKind struct {
	SubjectKind operation.SubjectKind `json:"sk"`
	Flow        string                `json:"fl"`
	Destination string                `json:"de"`
	ActorKind   operation.ActorKind   `json:"ak"`
	Role        operation.Role        `json:"ro"`
	Channel     string                `json:"ch"`
	Action      string                `json:"ac"`
	From        operation.State       `json:"f"`
	To          operation.State       `json:"t"`
}

// order compares two kinds, so that all transactions write new ones in one order.
func (k historyKind) order(l historyKind) int {
	return strings.Compare(k.text(), l.text())
}

func (k historyKind) text() string {
	return strings.Join([]string{string(k.SubjectKind), k.Flow, k.Destination, string(k.ActorKind), string(k.Role), k.Channel, k.Action, string(k.From), string(k.To)}, "\x1f")
}

// kindsKnown are the kinds that this process has seen committed. There are few; the
// database has them all.
type kindsKnown struct {
	mu  sync.RWMutex
	all map[historyKind]bool
}

func (c *kindsKnown) has(k historyKind) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all[k]
}

func (c *kindsKnown) keep(kinds []historyKind) {
	if len(kinds) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[historyKind]bool{}
	}
	for _, k := range kinds {
		c.all[k] = true
	}
}

const knowKindsSQL = `INSERT INTO history_kinds (subject_kind, flow, destination, actor_kind, role, channel, action, from_state, to_state)
	SELECT k.sk, k.fl, k.de, k.ak, k.ro, k.ch, k.ac, k.f, k.t
	FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS k(sk text, fl text, de text, ak text, ro text, ch text, ac text, f text, t text) ON CONFLICT DO NOTHING`

// knowKinds writes the kinds of these entries down, unless this process knows that they
// are: the first entry of a kind costs a statement, the others nothing.
func (t *tx) knowKinds(entries []chained, of placed) error {
	var kinds []historyKind
	for _, e := range entries {
		at := of.place(e.Entry)
		k := historyKind{e.SubjectKind, at.flow, at.destination, e.ActorKind, e.Role, e.Channel, e.Action, e.From, e.To}
		if !t.s.kinds.has(k) && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	slices.SortFunc(kinds, historyKind.order)
	js, err := json.Marshal(kinds)
	if err != nil {
		return err
	}
	if _, err = t.exec(knowKindsSQL, string(js)); err == nil {
		t.kinds = append(t.kinds, kinds...)
	}
	return err
}
