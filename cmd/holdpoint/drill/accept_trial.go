package drill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// acceptCase is one case with the flow under acceptance.
type acceptCase struct {
	key string
	run func(*acceptTrial) error
}

// acceptTrial is one case while it runs.
type acceptTrial struct {
	*acceptance
	ctx context.Context
	operation.AcceptanceCase
}

// try runs one case. What it cannot finish is a failure of the case.
func (a *acceptance) try(ctx context.Context, c acceptCase) operation.AcceptanceCase {
	ctx, cancel := context.WithTimeout(ctx, a.limit())
	defer cancel()
	t := &acceptTrial{acceptance: a, ctx: ctx, AcceptanceCase: operation.AcceptanceCase{Key: c.key, Began: time.Now().UTC(),
		Steps: []operation.AcceptanceNote{}, Found: []operation.AcceptanceFinding{}, Failures: []operation.AcceptanceNote{}}}
	err := c.run(t)
	for _, d := range a.dests {
		d.gate.calm()
	}
	if err = errors.Join(err, a.whole()); err != nil {
		t.fail("broke_off", "Error", short(err.Error()))
	}
	t.Ended, t.Passed = time.Now().UTC(), len(t.Failures) == 0
	return t.AcceptanceCase
}

// limit is how long one case may take: what every stage may, and the waiting for the
// lookups of test destinations.
func (a *acceptance) limit() time.Duration {
	d := acceptLimit * time.Duration(len(a.flow.Stages)+1)
	for _, st := range a.flow.Stages {
		d += 5 * a.dests[st.Destination].lag(st.Action)
	}
	return d
}

// short keeps an error readable on a sheet.
func short(s string) string {
	if r := []rune(s); len(r) > 600 {
		return string(r[:599]) + "…"
	}
	return s
}

func noteOf(code string, with []string) operation.AcceptanceNote {
	n := operation.AcceptanceNote{At: time.Now().UTC(), Code: code}
	for i := 0; i+1 < len(with); i += 2 {
		if n.With == nil {
			n.With = map[string]string{}
		}
		n.With[with[i]] = with[i+1]
	}
	return n
}

// did notes one step that was done.
func (t *acceptTrial) did(code string, with ...string) { t.Steps = append(t.Steps, noteOf(code, with)) }

// fail notes what does not hold.
func (t *acceptTrial) fail(code string, with ...string) {
	t.Failures = append(t.Failures, noteOf(code, with))
}

// check notes a failure when something that must hold does not.
func (t *acceptTrial) check(ok bool, code string, with ...string) {
	if !ok {
		t.fail(code, with...)
	}
}

// arriving is one test event.
type arriving struct {
	store.Received
	n int
}

// event makes a new test event: the number stands in for {n}.
func (t *acceptTrial) event() (arriving, error) {
	t.serial++
	f := t.flow
	inputs := numbered(t.plan.Input.Inputs, t.serial)
	raw, err := json.Marshal(inputs)
	if err != nil {
		return arriving{}, err
	}
	data, err := definition.DecodeJSON(raw)
	if err != nil {
		return arriving{}, err
	}
	m, _ := data.(map[string]any)
	key := fmt.Sprintf("acceptance-%d", t.serial)
	topic := f.Trigger.Topic
	if topic == "" {
		topic = cmpOr(f.Trigger.Handle, "acceptance")
	}
	return arriving{store.Received{Source: f.Trigger.Source, Account: "acceptance", Topic: topic, Handle: f.Trigger.Handle, EventKey: key, ActionRunID: key,
		EventTime: time.Now().UTC().Truncate(time.Second), Body: raw, Data: m, Inputs: m, Status: 202}, t.serial}, nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// hand gives the event to the record, as the intake does with what it has verified.
func (t *acceptTrial) hand(e arriving, delivery int) (store.Receipt, error) {
	e.DeliveryKey = fmt.Sprintf("%s-delivery-%d", e.EventKey, delivery)
	return t.store.Receive(t.ctx, store.System("command"), e.Received)
}

// begin lets a new event arrive and gives its operations, one per stage.
func (t *acceptTrial) begin() ([]operation.ID, error) {
	e, err := t.event()
	if err != nil {
		return nil, err
	}
	r, err := t.hand(e, 0)
	if err != nil {
		return nil, err
	}
	if r.Verdict != store.VerdictAccepted || len(r.Operations) != len(t.flow.Stages) {
		return nil, fmt.Errorf("the event was %s and began %d operations of %d stages: %s", r.Verdict, len(r.Operations), len(t.flow.Stages), r.Reason)
	}
	t.did("event_arrives", "Event", e.EventKey)
	return r.Operations, nil
}

// numbered replaces {n} in texts.
func numbered(v map[string]any, n int) map[string]any {
	out, _ := number(v, strconv.Itoa(n)).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	return out
}

func number(v any, n string) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "{n}", n)
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = number(x, n)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = number(x, n)
		}
		return out
	}
	return v
}

// page reads an operation as its page shows it.
func (t *acceptTrial) page(id operation.ID) (*store.OperationPage, error) {
	return t.store.FindOperation(t.ctx, t.people["ops"], id)
}

// stuckAfter is how long an operation may rest with a person, or closed, while a case
// waits for something else: then the case has not passed, and nothing more will come.
const stuckAfter = 5 * time.Second

// until waits until the record shows something about an operation. It gives up when the
// product has nothing to do with it any more.
func (t *acceptTrial) until(id operation.ID, what string, ok func(*store.OperationPage) bool) (*store.OperationPage, error) {
	last, revision, since := operation.State("not read"), int64(-1), time.Now()
	for {
		p, err := t.page(id)
		switch {
		case err == nil && ok(p):
			return p, nil
		case err == nil && (p.Revision != revision || !resting(p.State)):
			last, revision, since = p.State, p.Revision, time.Now()
		case err == nil && time.Since(since) > t.patience:
			err = errors.New("nothing more happens by itself")
		}
		if err == nil {
			err = pause(t.ctx, 20*time.Millisecond)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is %s, waited for: %s: %w", id, last, what, err)
		}
	}
}

// resting reports that a person decides what comes next, or that nothing does.
func resting(s operation.State) bool {
	return s == operation.Review || s == operation.ReexecutionRequested || s.Closed()
}

func (t *acceptTrial) untilState(id operation.ID, states ...operation.State) (*store.OperationPage, error) {
	return t.until(id, fmt.Sprint(states), func(p *store.OperationPage) bool { return slices.Contains(states, p.State) })
}

// approve completes what is still to be written and lets the declared people approve
// exactly the version that is shown, until the quorum is reached.
func (t *acceptTrial) approve(id operation.ID) error {
	p, err := t.untilState(id, operation.Draft, operation.PendingApproval)
	if err != nil {
		return err
	}
	if p.State == operation.Draft {
		if err := t.write(p); err != nil {
			return err
		}
		if p, err = t.untilState(id, operation.PendingApproval); err != nil {
			return err
		}
	}
	if err := t.expectRequest(p); err != nil {
		return err
	}
	given := 0
	for _, who := range t.everybody {
		if p.State != operation.PendingApproval {
			break
		}
		v := p.Current()
		err := t.store.Decide(t.ctx, who, store.Decided{Operation: id, Version: v.ID, Hash: v.HashHex(), Revision: p.Revision, Decision: operation.Approve, FormID: store.NewFormID()})
		var no *operation.Refusal
		switch {
		case err == nil:
			given++
		case !errors.As(err, &no):
			return err
		}
		if p, err = t.page(id); err != nil {
			return err
		}
	}
	if p.State == operation.PendingApproval {
		return fmt.Errorf("%d of the declared people approved stage %s, and that is not enough", given, p.Stage)
	}
	t.did("approved", "Stage", p.Stage, "People", strconv.Itoa(given))
	return nil
}

// write fills the draft with the plan's content, and what that leaves out with samples
// of the action's schema.
func (t *acceptTrial) write(p *store.OperationPage) error {
	content := p.Current().FreshContent()
	if content == nil {
		content = map[string]any{}
	}
	act, err := t.dests[p.Destination].profile.Action(p.Action.Name)
	if err != nil {
		return err
	}
	n := strconv.Itoa(t.serial)
	sample, _ := number(act.Sample(), n).(map[string]any)
	given, _ := number(t.plan.Input.Content[p.Stage], n).(map[string]any)
	for _, field := range p.Current().Missing() {
		var v any = "Acceptance test " + n
		if s, ok := sample[field]; ok {
			v = s
		}
		setField(content, field, v)
	}
	maps.Copy(content, given)
	var author store.Actor
	for _, who := range t.everybody {
		author = who
		err = t.store.AddVersion(t.ctx, who, store.NewVersion{Operation: p.ID, Revision: p.Revision, Content: content,
			Author: store.Author{Kind: "person", ID: who.ID}, Submit: true})
		if !refused(err, operation.CodeNotEntitled) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("complete stage %s: %w", p.Stage, err)
	}
	t.did("completed", "Stage", p.Stage, "Person", author.Name)
	return nil
}

// setField puts a value at a dotted path; what is no mapping on the way is replaced.
func setField(in map[string]any, path string, v any) {
	for {
		first, rest, more := strings.Cut(path, ".")
		if !more {
			in[strings.SplitN(first, "[", 2)[0]] = v
			return
		}
		next, _ := in[first].(map[string]any)
		if next == nil {
			next = map[string]any{}
			in[first] = next
		}
		in, path = next, rest
	}
}

// expectRequest tells the gate how the operation's request will look.
func (t *acceptTrial) expectRequest(p *store.OperationPage) error {
	for generation := 1; generation <= 2; generation++ {
		r, err := t.resolved(p, generation)
		if err != nil {
			return err
		}
		t.dests[p.Destination].gate.expect(p.ID, r)
	}
	return nil
}

// resolved is the approved request with its holes filled.
func (t *acceptTrial) resolved(p *store.OperationPage, generation int) (operation.Request, error) {
	fill := map[string]string{operation.HoleOperationID: string(p.ID), operation.HoleKey: operation.DestinationKey(p.ID, generation)}
	for _, s := range p.Siblings {
		fill[operation.HoleTargetRef(s.Stage)] = s.TargetReference
	}
	return p.Current().Request().Resolve(fill)
}
