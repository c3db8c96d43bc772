package api

import (
	"encoding/hex"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// shown puts an operation into the API's form.
func (s *server) shown(o store.APIOperation) Operation {
	out := Operation{
		Id: string(o.ID), Run: string(o.Run), Flow: o.Flow, FlowVersion: o.FlowVersion, Stage: o.Stage, Item: optional(o.ItemKey),
		Destination: o.Destination, Action: o.Action, Account: o.Account, Environment: o.Environment, Title: optional(o.Title),
		State: string(o.State), Revision: o.Revision, AttemptsUsed: o.AttemptsUsed, AttemptsMax: o.AttemptsMax, Attempts: []Attempt{},
		Paused: o.Paused, Overdue: o.Overdue, NextDecision: nextDecision(o.Next), TargetReference: optional(o.TargetReference),
		TargetUrl: optional(o.TargetURL), ConfirmedBy: optional(o.ConfirmedBy), Duplicate: optional(o.Duplicate), Delivery: optional(o.Delivery),
		Remedy: optional(o.Remedy), Link: s.link(o.ID), CreatedAt: o.Created, UpdatedAt: o.Updated,
	}
	for _, a := range o.Attempts {
		out.Attempts = append(out.Attempts, Attempt{Id: string(a.ID), Number: a.Number, Kind: string(a.Kind), Outcome: optional(a.Outcome),
			Code: optional(a.Code), ClaimedAt: a.ClaimedAt.UTC(), DispatchedAt: utc(a.DispatchedAt), EndedAt: utc(a.EndedAt)})
	}
	if o.Version != "" {
		v := &ContentVersion{Id: string(o.Version), Number: o.VersionNumber, Content: o.Content, Missing: o.Missing, Hash: optional(hex.EncodeToString(o.VersionHash))}
		if v.Missing == nil {
			v.Missing = []string{}
		}
		if h, err := store.ContentHash(o.Content); err == nil && o.VersionHash != nil {
			v.ContentHash = &h
		}
		out.Version = v
	}
	return out
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func claimShown(c store.Claimed) Claim {
	return Claim{Attempt: string(c.Attempt), Operation: string(c.Operation), Fence: c.Fence, Kind: string(c.Kind), Number: c.Number,
		LeaseUntil: c.LeaseUntil.UTC(), LeaseCap: c.LeaseCap.UTC()}
}

func requestShown(r operation.Request) Request {
	out := Request{Kind: string(r.Kind), Method: r.Method, Url: r.URL, Body: r.Body, From: r.From, To: r.To}
	for _, h := range r.Header {
		out.Header = append(out.Header, Header(h))
	}
	return out
}

// presented reads what a client says it means to send.
func presented(hash *string, content []byte, r *Request) store.Presented {
	p := store.Presented{Content: content}
	if hash != nil {
		p.ContentHash = *hash
	}
	if r != nil {
		q := operation.Request{Kind: operation.RequestKind(r.Kind), Method: r.Method, URL: r.Url, Body: r.Body, From: r.From, To: r.To}
		for _, h := range r.Header {
			q.Header = append(q.Header, operation.Header(h))
		}
		p.Request = &q
	}
	return p
}
