package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/gowebpki/jcs"
)

// Presented is what a client says it means to send (FC-18). Empty parts are not
// compared. Content is compared in canonical form (RFC 8785 after NFC): the order of
// keys does not matter, everything else does.
type Presented struct {
	ContentHash string             // hex SHA-256 of the content's canonical JSON
	Content     json.RawMessage    // the content itself
	Request     *operation.Request // the request with its holes filled
}

func (p Presented) empty() bool {
	return p.ContentHash == "" && p.Content == nil && p.Request == nil
}

// ContentHash is the hash that a client presents for a content: hex SHA-256 over its
// canonical JSON. It is not the hash that approvals cover, which is salted.
func ContentHash(content json.RawMessage) (string, error) {
	if err := operation.CheckNumbers(content); err != nil {
		return "", err
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	raw, err := json.Marshal(operation.NormalizeValue(v))
	if err != nil {
		return "", err
	}
	canon, err := jcs.Transform(raw)
	h := sha256.Sum256(canon)
	return hex.EncodeToString(h[:]), err
}

// ClaimPresenting is Claim by a client that says what it means to send. Content that
// differs from the approved version ends the claim as not_started: the refusal stands
// on the record beside the attempt.
func (s *Store) ClaimPresenting(ctx context.Context, a Actor, id operation.ID, worker string, p Presented) (Claimed, error) {
	c, err := s.Claim(ctx, a, id, worker)
	if err != nil || p.empty() {
		return c, err
	}
	return c, s.checkPresented(ctx, a, id, c.Attempt, c.Fence, p)
}

// DispatchPresenting is Dispatch by a client that says what it means to send. It
// compares before anything is handed out; what differs releases the claim.
func (s *Store) DispatchPresenting(ctx context.Context, a Actor, id operation.AttemptID, fence int64, p Presented) (Dispatched, error) {
	if !p.empty() {
		op, err := s.operationOf(ctx, id)
		if err == nil {
			err = s.checkPresented(ctx, a, op, id, fence, p)
		}
		if err != nil {
			return Dispatched{}, err
		}
	}
	return s.Dispatch(ctx, a, id, fence)
}

// checkPresented compares under the operation's lock. The version of an attempt does
// not change, so what passes here still holds at the dispatch that follows.
func (s *Store) checkPresented(ctx context.Context, a Actor, op operation.ID, id operation.AttemptID, fence int64, p Presented) error {
	return s.decideGate(ctx, a, claimSQL, op, func(u *unit) (*operation.Refusal, error) {
		att, err := u.attempt(id)
		if err != nil {
			return nil, err
		}
		if att.Fence != fence || att.Outcome != nil || u.op.OpenAttempt != id || att.ClaimedBy != a.ID {
			return operation.Refuse(operation.CodeStaleFence, "attempt", string(id)), nil
		}
		if att.DispatchedAt != nil {
			return nil, errDone // the bytes are out: they are the approved ones
		}
		r, err := u.compare(&att, p)
		if r == nil && err == nil {
			err = errDone
		}
		return r, err
	})
}

// compare refuses what differs from the approved version and releases the claim.
func (u *unit) compare(att *attemptRow, p Presented) (*operation.Refusal, error) {
	f, err := u.gateFacts()
	if err != nil {
		return nil, err
	}
	var approved struct {
		Content string `db:"content"`
	}
	if err := u.get(&approved, `SELECT content FROM version_bodies WHERE version_id = $1`, string(att.Version)); err != nil {
		return nil, err
	}
	want, err := ContentHash(json.RawMessage(approved.Content))
	if err != nil {
		return nil, err
	}
	got := []string{}
	if p.ContentHash != "" {
		got = append(got, strings.ToLower(strings.TrimPrefix(p.ContentHash, "sha256:")))
	}
	if p.Content != nil {
		h, err := ContentHash(p.Content)
		if err != nil {
			h = "not canonical"
		}
		got = append(got, h)
	}
	differs := slices.ContainsFunc(got, func(h string) bool { return h != want })
	if p.Request != nil && !differs {
		req, err := u.resolve(att, &Dispatched{}, f)
		if err != nil {
			return nil, err
		}
		differs = !sameRequest(*p.Request, req)
	}
	if !differs {
		return nil, nil
	}
	u.note(u.op, "content_differs", "", "attempt", string(att.ID), "approved", want, "presented", strings.Join(got, " "))
	return operation.Refuse(operation.CodeContentDiffers, "attempt", string(att.ID)), u.releaseClaim(string(operation.CodeContentDiffers))
}

// sameRequest reports whether the presented request is the approved one: method,
// address and body exactly; of the headers those that are presented.
func sameRequest(p, approved operation.Request) bool {
	if p.Method != approved.Method || p.URL != approved.URL || p.Body != approved.Body || p.From != approved.From || !slices.Equal(p.To, approved.To) {
		return false
	}
	for _, h := range p.Header {
		if !slices.ContainsFunc(approved.Header, func(x operation.Header) bool {
			return strings.EqualFold(x.Name, h.Name) && x.Value == h.Value
		}) {
			return false
		}
	}
	return true
}

// Report is an outcome that a client of the job API reports.
type Report struct {
	Outcome                    operation.Outcome
	Proof                      operation.Proof // masked
	TargetReference, TargetURL string
}

// Reported says what a report counted as.
type Reported struct {
	Recorded
	Outcome operation.Outcome
	Refused *operation.Refusal // why it counts as less than it claimed; nil = it counts as it is
}

// ReportOutcome records an outcome from outside. What counts is judged inside the
// transaction, where it is certain whether the attempt was dispatched: a claim without
// proof counts as unknown. The same report again changes nothing.
func (s *Store) ReportOutcome(ctx context.Context, a Actor, id operation.AttemptID, fence int64, r Report) (Reported, error) {
	op, err := s.operationOf(ctx, id)
	if err != nil {
		return Reported{}, err
	}
	var out Reported
	err = s.change(ctx, a, op, func(u *unit) error {
		out = Reported{Recorded: Recorded{Operation: op}}
		att, err := u.attempt(id)
		if err != nil {
			return err
		}
		if att.ClaimedBy != a.ID {
			return operation.Refuse(operation.CodeStaleFence, "attempt", string(id))
		}
		listed, permanent, err := u.provenCodes(att, r.Proof.Code)
		if err != nil {
			return err
		}
		out.Outcome, out.Refused = operation.CheckReport(r.Outcome, r.Proof.Code, listed, r.TargetReference, att.DispatchedAt != nil)
		if out.Refused != nil && att.DispatchedAt == nil {
			return out.Refused
		}
		res := operation.Result{Outcome: out.Outcome, Proof: r.Proof, Permanent: permanent && out.Outcome == operation.OutcomeNotStarted}
		if out.Outcome == operation.OutcomeConfirmed {
			res.TargetReference, res.TargetURL = r.TargetReference, r.TargetURL
		}
		err = u.recordReport(att, fence, res, &out)
		out.State = u.op.State
		return err
	})
	return out, err
}

func (u *unit) recordReport(att attemptRow, fence int64, r operation.Result, out *Reported) error {
	if att.Fence == fence && att.Outcome != nil && *att.Outcome == r.Outcome.String() && (r.TargetReference == "" || r.TargetReference == u.op.TargetReference) {
		return errDone // the answer to this report was lost; it is recorded
	}
	out.Late = att.Fence != fence || att.Outcome != nil || u.op.OpenAttempt != att.ID
	if out.Late {
		return u.lateReport(att, r)
	}
	return u.record(att, r)
}

// provenCodes lists the codes that prove that nothing was executed, by the profile the
// attempt was made under and by the current one: the stricter of both counts.
func (u *unit) provenCodes(att attemptRow, code string) (listed []string, permanent bool, err error) {
	pinned, err := u.s.profileVersion(u.ctx, u.Tx, u.op.Destination, att.DestVersion)
	if err != nil {
		return nil, false, err
	}
	for _, p := range []*definition.Profile{pinned, u.profile} {
		act, err := p.Action(u.op.Action)
		if err != nil {
			return nil, false, nil // the action is gone: nothing is documented any more
		}
		codes := act.NotStartedCodes()
		if listed == nil {
			listed = codes
		}
		listed = slices.DeleteFunc(slices.Clone(listed), func(c string) bool { return !slices.Contains(codes, c) })
		permanent = act.Permanent(code)
	}
	return listed, permanent, nil
}
