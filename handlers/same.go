package handlers

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// sameFacts compares every request that left with the version that was approved, from what
// is stored now: the version must still have the approved hash, the bytes that of their
// dispatch, and the version's holes, filled, must give exactly these bytes. Attempts with
// the same bytes share one fact.
func sameFacts(p *store.OperationPage) []views.SameFact {
	c := sameCheck{p: p, versions: map[operation.VersionID]bool{}}
	var out []views.SameFact
	var stored string // of the attempt before: the record keeps equal bytes once
	for _, a := range p.Attempts {
		if a.DispatchedAt == nil {
			continue
		}
		if a.Resolved != nil && *a.Resolved != "" {
			stored = *a.Resolved
		} else if !a.AsBefore {
			stored = ""
		}
		f := c.fact(a, stored)
		i := slices.IndexFunc(out, func(x views.SameFact) bool {
			return x.Version == f.Version && x.Resolved == f.Resolved && x.Verdict == f.Verdict && x.Fault == f.Fault
		})
		if i >= 0 {
			out[i].Attempts = append(out[i].Attempts, a.Number)
			continue
		}
		out = append(out, f)
	}
	return out
}

// sameCheck keeps what was found of a version, and of bytes that many attempts share.
type sameCheck struct {
	p        *store.OperationPage
	versions map[operation.VersionID]bool // whether its text still has its hash
	last     string
	lastHash []byte
	lastReq  operation.Request
}

func (c *sameCheck) fact(a store.AttemptView, stored string) views.SameFact {
	f := views.SameFact{Resolved: hex.EncodeToString(a.ResolvedHash), Attempts: []int{a.Number}, At: *a.DispatchedAt}
	v := versionByID(c.p, a.Version)
	if v == nil {
		return differs(f, views.FaultVersion)
	}
	f.Number, f.Version = v.Number, v.HashHex()
	if stored != "" {
		f.URL = pathAttempt(c.p.ID, a.ID)
	}
	if v.ContentText == "" || stored == "" {
		f.Verdict = views.SameErased
		return f
	}
	if stored != c.last {
		c.lastReq, c.lastHash = operation.Request{}, nil
		if json.Unmarshal([]byte(stored), &c.lastReq) == nil {
			if h, err := c.lastReq.Hash(); err == nil {
				c.lastHash = h[:]
			}
		}
		c.last = stored
	}
	f.Bytes = len(c.lastReq.Body)
	values, filled := v.Request().FilledBy(c.lastReq)
	switch {
	case !c.versionHolds(*v):
		return differs(f, views.FaultVersion)
	case !bytes.Equal(c.lastHash, a.ResolvedHash):
		return differs(f, views.FaultResolved)
	case !filled || !c.ownValues(values, a):
		return differs(f, views.FaultHoles)
	}
	f.Verdict, f.Holes = views.SameBytes, holesFilled(v.Request(), values)
	return f
}

func differs(f views.SameFact, why views.SameFault) views.SameFact {
	f.Verdict, f.Fault = views.SameDiffers, why
	return f
}

// versionHolds reports that a version's stored text still has the hash that was approved.
func (c *sameCheck) versionHolds(v store.VersionRow) bool {
	if known, ok := c.versions[v.ID]; ok {
		return known
	}
	o := c.p.OperationSummary
	h, err := operation.Version{Content: json.RawMessage(v.ContentText), Request: v.Request(), Destination: o.Destination, Action: o.Action,
		Account: v.Account, Environment: v.Environment, Credential: v.Credential}.Hash(v.Salt)
	c.versions[v.ID] = err == nil && bytes.Equal(h[:], v.Hash)
	return c.versions[v.ID]
}

// ownValues reports that the holes for the operation and its key hold this operation's.
func (c *sameCheck) ownValues(values map[string]string, a store.AttemptView) bool {
	if id, ok := values[operation.HoleOperationID]; ok && id != string(c.p.ID) {
		return false
	}
	key, ok := values[operation.HoleKey]
	return !ok || key == a.Key
}

func holesFilled(r operation.Request, values map[string]string) []views.HoleFill {
	var out []views.HoleFill
	for _, name := range r.Holes() {
		out = append(out, views.HoleFill{Name: name, Value: values[name]})
	}
	return out
}
