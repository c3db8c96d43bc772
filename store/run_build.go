package store

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// runBuilder builds the runs and operations that one event starts and writes them with
// the delivery in one statement.
type runBuilder struct {
	*tx
	actor    Actor
	now      time.Time
	epoch    int64
	in       Received
	event    operation.EventID
	delivery operation.DeliveryID
	newEvent bool
	// discarded: a person decided that this event is a duplicate
	discarded bool
	defs      current
	rows      buildRows
	entries   []chained
	placed    placed
	batches   []newBatch
}

// buildRows are the rows to write, as JSON records.
type buildRows struct {
	Runs     []map[string]any
	Ops      []map[string]any
	Versions []map[string]any
	Stops    []map[string]any // of operations that begin without data that they need
}

// runs builds a run for each flow that the event triggers and that has none yet.
func (b *runBuilder) runs(out *Receipt) error {
	ev := b.eventData()
	matched := false
	for _, f := range b.defs.flows {
		if !b.triggers(f) {
			continue
		}
		matched = true
		if err := b.run(f, ev, out); err != nil {
			return err
		}
	}
	if !matched {
		if b.in.Flow != "" {
			return ErrNotFound
		}
		out.Reason = "no flow is triggered by it"
	}
	return nil
}

func (b *runBuilder) triggers(f *definition.Flow) bool {
	if b.in.Flow != "" {
		return f.Name == b.in.Flow
	}
	return triggeredBy(f, b.in.Source, b.in.Topic, b.in.Handle)
}

// triggeredBy reports whether an event of this source, topic and handle starts the flow.
func triggeredBy(f *definition.Flow, source, topic, handle string) bool {
	t := f.Trigger
	return t.Source == source && (t.Handle == "" || t.Handle == handle) && (t.Topic == "" || t.Topic == topic)
}

func (b *runBuilder) run(f *definition.Flow, ev definition.EventData, out *Receipt) error {
	key := b.in.RunKey
	if b.in.Flow == "" {
		var err error
		if key, err = f.Key(ev); err != nil || key == "" {
			return operation.Refuse(operation.CodeContentMissing, "field", "run key")
		}
	}
	missing, err := f.CheckInputs(b.inputs(f, ev), listNames(b.in.lists)...)
	if err != nil || len(missing) > 0 && f.OnMissingData == "refuse" {
		return operation.Refuse(operation.CodeContentMissing, "field", joinOr(missing, "inputs"))
	}
	keyHash := operation.HashRunKey(f.Name, key)
	runID := operation.RunID("run_" + string(operation.DeriveID(b.s.secret, operation.Intent{Flow: f.Name, RunKeyHash: keyHash, Stage: "\x00run"}))[3:])
	inputs, err := jsonText(b.inputs(f, ev))
	if err != nil {
		return err
	}
	version := b.defs.versions[f.Name]
	b.rows.Runs = append(b.rows.Runs, map[string]any{"id": runID, "flow": f.Name, "version": version, "key": hex.EncodeToString(keyHash[:]), "label": shown(key, 120), "inputs": inputs})
	out.Runs = append(out.Runs, runID)
	fans := slices.ContainsFunc(f.Stages, func(st definition.Stage) bool { return st.ForEach != nil })
	if fans {
		var known bool // its items would stand without a batch
		if err := b.get(&known, `SELECT EXISTS (SELECT 1 FROM runs WHERE id = $1)`, string(runID)); err != nil {
			return err
		}
		fans = !known
	}
	for i, st := range f.Stages {
		if st.ForEach != nil {
			if !fans {
				continue
			}
			if err := b.batch(f, version, runID, i, st, ev, out); err != nil {
				return err
			}
			continue
		}
		id := operation.DeriveID(b.s.secret, operation.Intent{Flow: f.Name, RunKeyHash: keyHash, Stage: st.Key})
		out.Operations = append(out.Operations, id)
		if err := b.operation(f, version, runID, id, i, st, ev, out); err != nil {
			return err
		}
	}
	return nil
}

// operation builds one operation with its first content version.
func (b *runBuilder) operation(f *definition.Flow, version int, run operation.RunID, id operation.ID, no int, st definition.Stage, ev definition.EventData, out *Receipt) error {
	p, err := b.s.profileVersion(b.ctx, b.Tx, st.Destination, b.defs.dests[st.Destination])
	if err != nil {
		return fmt.Errorf("destination %s: %w", st.Destination, err)
	}
	act, err := p.Action(st.Action)
	if err != nil {
		return err
	}
	author := Author{Kind: "flow", ID: f.Name}
	if b.in.Starter != "" {
		author = Author{Kind: "person", ID: string(b.in.Starter)}
	}
	content, given := b.in.Content[st.Key]
	var missing []string
	if given {
		author = b.in.Author
	} else if content, missing, err = f.Draft(st.Key, ev, b.inputs(f, ev)); err != nil {
		return err
	}
	v, err := makeVersion(p, act, content, missing, b.now)
	if err != nil {
		return err
	}
	if given && len(v.missing) > 0 { // whoever gives content is told; it is not kept as a draft
		return operation.Refuse(operation.CodeContentMissing, "field", contentPlaces("/content/"+st.Key+"/", v.missing))
	}
	o := &opRow{ID: id, RunID: run, Flow: f.Name, FlowVersion: version, Stage: st.Key, StageNo: no, Stages: len(f.Stages),
		Destination: st.Destination, Action: st.Action, EffectType: act.Effect, Account: p.Account, Environment: p.Environment,
		Title: titleOf(content), AttemptsMax: max(st.MaxAttempts, 1), VersionID: operation.VersionID(newID("ver")), VersionNo: 1,
		State: operation.Draft, UpdatedAt: b.now, ChainHash: make([]byte, 32)}
	policy := ""
	if v.hash != nil {
		o.State = operation.PendingApproval
		if policy, err = jsonText(st.Approval); err != nil {
			return err
		}
	}
	if err := b.enter(o, f, author, policy, v); err != nil {
		return err
	}
	if !given {
		if err := b.missingData(f, o, st, ev, v.missing); err != nil {
			return err
		}
	}
	d := Drafted{Operation: o.ID, Version: o.VersionID}
	if v.hash != nil {
		d.Hash = hexOf(v.hash[:])
	}
	out.Drafted = append(out.Drafted, d)
	return nil
}

func (b *runBuilder) enter(o *opRow, f *definition.Flow, author Author, policy string, v madeVersion) error {
	hash := ""
	if v.hash != nil {
		hash = hex.EncodeToString(v.hash[:])
	}
	e := newEntry(b.actor, b.now, operation.SubjectOperation, string(o.ID), "create", "", "event", string(b.event), "run", string(o.RunID), "policy", strconv.Itoa(o.FlowVersion), versionHash, hash)
	e.To, e.VersionID = o.State, o.VersionID
	c := chain(e, 0, o.ChainHash)
	b.entries = append(b.entries, c)
	b.placed = b.placed.with(o)
	u := &unit{tx: b.tx, now: b.now, facts: loaded{Epoch: b.epoch}}
	if err := u.named(f, o.FlowVersion); err != nil {
		return err
	}
	d := operation.NextFor(operation.Facts{State: o.State}, u.people(o), u.due(o), operation.Responsible{}, time.Time{}, time.Time{}, b.now)
	b.rows.Ops = append(b.rows.Ops, map[string]any{"id": o.ID, "run": o.RunID, "flow": o.Flow, "fv": o.FlowVersion, "stage": o.Stage, "no": o.StageNo, "stages": o.Stages,
		"dest": o.Destination, "action": o.Action, "effect": o.EffectType, "account": o.Account, "env": o.Environment, "title": o.Title, "state": o.State,
		"ver": o.VersionID, "max": o.AttemptsMax, "nk": d.Kind, "nr": d.Who.Role, "nu": d.Who.User, "at": d.At, "seq": c.Seq, "head": hex.EncodeToString(c.hash[:])})
	missing := v.missing
	if missing == nil {
		missing = []string{}
	}
	b.rows.Versions = append(b.rows.Versions, map[string]any{"id": o.VersionID, "op": o.ID, "ak": author.Kind, "ai": author.ID, "pb": string(author.PromptedBy), "model": author.Model,
		"note": author.Note, "missing": missing, "hash": hash, "account": o.Account, "env": o.Environment, "cred": v.version.Credential, "fv": o.FlowVersion,
		"dv": b.defs.dests[o.Destination], "content": string(v.version.Content), "request": v.request, "salt": hex.EncodeToString(v.salt), "policy": policy})
	return nil
}

// missingData notes that an operation cannot go on for want of data: something is missing
// that nobody is to write.
func (b *runBuilder) missingData(f *definition.Flow, o *opRow, st definition.Stage, ev definition.EventData, missing []string) error {
	missing = slices.DeleteFunc(slices.Clone(missing), func(path string) bool {
		return slices.ContainsFunc(st.Drafts, func(d definition.DraftField) bool { return d.Path == path })
	})
	if len(missing) == 0 {
		return nil
	}
	inputs, err := f.CheckInputs(b.inputs(f, ev))
	if err != nil {
		return err
	}
	if len(inputs) > 0 {
		missing = inputs
	}
	row := stopRow(o, operation.Stop{Kind: operation.StopMissing, Destination: o.Destination, Missing: missing}, 0, b.now)
	row["run"] = string(o.RunID)
	b.rows.Stops = append(b.rows.Stops, row)
	return nil
}

// contentPlaces writes dotted paths as places in what a caller sent.
func contentPlaces(below string, paths []string) string {
	places := make([]string, len(paths))
	for i, p := range paths {
		places[i] = below + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(p)
	}
	return strings.Join(places, ", ")
}

// madeVersion is a rendered content version before it is written.
type madeVersion struct {
	version operation.Version
	request string // JSON
	salt    []byte
	hash    *[32]byte // nil while something is missing
	missing []string
}

// makeVersion renders content to the exact request and hashes both. Incomplete content,
// or content that does not fit the action, has no request and no hash: nobody can
// approve it, and missing names what is to be done.
func makeVersion(p *definition.Profile, act *definition.Action, content map[string]any, missing []string, now time.Time) (madeVersion, error) {
	v := madeVersion{salt: newSalt(), missing: missing, request: "{}"}
	if content == nil {
		content = map[string]any{}
	}
	content, _ = operation.NormalizeValue(content).(map[string]any)
	raw, err := json.Marshal(content)
	if err != nil {
		return v, err
	}
	if len(missing) > 0 {
		v.version = operation.Version{Content: raw, Account: p.Account, Environment: p.Environment, Credential: p.Auth.Name(), Destination: p.Destination, Action: act.Name}
		if err := operation.CheckNumbers(raw); err != nil {
			return v, operation.Refuse(operation.CodeContentMissing, "field", joinOr(missing, ""))
		}
		return v, nil
	}
	v.version, err = act.Render(content, os.LookupEnv, now)
	var incomplete *definition.ContentError
	if errors.As(err, &incomplete) {
		return makeVersion(p, act, content, incomplete.Fields, now)
	}
	if err != nil { // of the set-up: see Render
		return v, setUpFault(p, err)
	}
	if v.request, err = jsonText(v.version.Request); err != nil {
		return v, err
	}
	h, err := v.version.Hash(v.salt)
	v.hash = &h
	return v, err
}

// titleOf is the one line by which people recognise an operation in a list.
func titleOf(content map[string]any) string {
	for _, k := range []string{"subject", "title", "name", "topic", "description", "note", "text", "code"} {
		if s, ok := content[k].(string); ok && s != "" {
			return shown(s, 500)
		}
	}
	return ""
}

func short(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
