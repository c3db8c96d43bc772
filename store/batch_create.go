package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// CreateBatchRun starts a run whose lists came as files: for an author of the flow, or a
// token that was let in. The same key with the same lists and inputs is the same run, and
// with others a conflict: Receipt.Verdict says so. It gives the run's batches in the order
// of stages. A list that is too long is *Invalid, and nothing is stored.
func (s *Store) CreateBatchRun(ctx context.Context, a Actor, n NewBatchRun) (Receipt, []operation.BatchID, error) {
	in, err := s.batchRunOf(ctx, a, n)
	if err != nil {
		return Receipt{}, nil, err
	}
	var out Receipt
	err = s.write(ctx, func(t *tx) error {
		out = Receipt{Delivery: operation.DeliveryID(newID("dlv")), Verdict: VerdictAccepted}
		if a.Kind == operation.ActorPerson {
			if err := t.mayBe(a, n.Flow, operation.RoleAuthor); err != nil {
				return err
			}
		}
		return t.createBatchRun(a, n, in, &out)
	})
	if err != nil {
		return Receipt{}, nil, err
	}
	if a.Kind == operation.ActorPerson {
		s.Hint()
	}
	return out, out.Batches, nil
}

// batchRunOf is the event by which a run with uploaded lists begins.
func (s *Store) batchRunOf(ctx context.Context, a Actor, n NewBatchRun) (Received, error) {
	item, err := s.FindFlow(ctx, n.Flow)
	if err != nil {
		return Received{}, err
	}
	for name := range n.Lists {
		if !slices.Contains(item.Flow.ListInputs(), name) {
			return Received{}, &Invalid{Field: name, Code: "list_no_input"}
		}
	}
	in := Received{Source: JobSource, Topic: n.Flow, EventKey: n.RunKey, Data: n.Inputs, Inputs: n.Inputs, Flow: n.Flow, RunKey: n.RunKey, Starter: a.UserID(), Author: n.Author, Status: 200,
		lists: n.Lists, shared: n.Shared}
	if in.Data == nil {
		in.Data, in.Inputs = map[string]any{}, map[string]any{}
	}
	if a.Kind == operation.ActorPerson {
		if n.FormID == "" {
			return in, operation.Refuse(operation.CodeStaleRevision)
		}
		if in.RunKey == "" {
			in.RunKey = "form:" + n.FormID
			in.EventKey = in.RunKey
		}
		src, err := s.handSource(ctx, item.Flow)
		if err != nil {
			return in, err
		}
		if src != nil {
			in.Source, in.Account = src.Name, src.Account
		}
	}
	if in.RunKey == "" {
		return in, operation.Refuse(operation.CodeContentMissing, "field", "run key")
	}
	in.DeliveryKey = in.RunKey
	return in, nil
}

// handSource gives the source by which people start the flow; nil = it has none, and the
// run counts as one of the job API.
func (s *Store) handSource(ctx context.Context, f *definition.Flow) (*definition.Source, error) {
	all, err := s.ListSources(ctx)
	if err != nil {
		return nil, err
	}
	for _, src := range all {
		if src.Kind == definition.KindStarter && src.Starts(f) {
			return src, nil
		}
	}
	return nil, nil
}

// createBatchRun writes the items first, while nobody waits for this transaction, and takes
// the gate's lock for the rest.
func (t *tx) createBatchRun(a Actor, n NewBatchRun, in Received, out *Receipt) error {
	var known bool
	if err := t.get(&known, `SELECT EXISTS (SELECT 1 FROM events WHERE source = $1 AND account = $2 AND topic = $3 AND event_key = $4)`, in.Source, in.Account, in.Topic, in.EventKey); err != nil {
		return err
	}
	hashes := map[string]string{}
	if !known {
		if err := t.buildBatches(&in, hashes); err != nil {
			return err
		}
	}
	for name, l := range n.Lists {
		if hashes[name] == "" {
			var err error
			if hashes[name], err = listHash(l); err != nil {
				return err
			}
		}
	}
	lists := map[string]any{}
	for name, l := range n.Lists {
		lists[name] = map[string]any{"name": shown(l.Name, 200), "sha256": hashes[name]}
	}
	var err error
	if in.Body, err = json.Marshal(map[string]any{"inputs": in.Inputs, "lists": lists, "shared": n.Shared}); err != nil {
		return err
	}
	for _, l := range lists { // a file by another name is the same list
		delete(l.(map[string]any), "name")
	}
	if in.Compared, err = json.Marshal(map[string]any{"inputs": in.Inputs, "lists": lists, "shared": n.Shared}); err != nil {
		return err
	}
	return t.receive(a, in, payloadHash(in), out)
}

// buildBatches writes the items of all stages that fan out, by the definitions as they are
// now. The run is built of them only if those are still the same then.
func (t *tx) buildBatches(in *Received, hashes map[string]string) error {
	now, err := t.clock()
	if err != nil {
		return err
	}
	var version int
	if err := t.get(&version, `SELECT version FROM flows WHERE name = $1`, in.Flow); err != nil {
		return err
	}
	f, err := t.s.flowVersion(t.ctx, t.Tx, in.Flow, version)
	if err != nil {
		return err
	}
	in.built, in.event, in.EventTime = map[string]newBatch{}, operation.EventID(newID("evt")), now
	ev := definition.EventData{Source: in.Source, Account: in.Account, Topic: in.Topic, Key: in.EventKey, ID: string(in.event), Time: now, Data: in.Data}
	for i := range f.Stages {
		st := &f.Stages[i]
		if st.ForEach == nil {
			continue
		}
		var dest int
		if err := t.get(&dest, `SELECT version FROM destinations WHERE name = $1`, st.Destination); err != nil {
			return err
		}
		n, err := t.fanOut(f, version, st, dest, ev, in.Inputs, in.lists, in.shared[st.Key], now)
		if err != nil {
			return err
		}
		in.built[st.Key] = n
		if _, given := in.lists[st.ForEach.Input]; given {
			hashes[st.ForEach.Input] = hex.EncodeToString(n.made.ListHash[:])
		}
	}
	return nil
}

// listHash is the hash over a list's entries, as a version has it.
func listHash(l List) (string, error) {
	h := sha256.New()
	for entry, err := range l.Rows {
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(entry)
		if err != nil {
			return "", err
		}
		h.Write(append(raw, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var _ time.Time
