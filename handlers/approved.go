package handlers

import (
	"encoding/hex"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// approvedColumn is what was, or is to be, approved.
func (b panelOf) approvedColumn(want shown) views.Approved {
	p, n := b.p, b.n
	a := views.Approved{View: views.ViewContent}
	cur := p.Current()
	if cur == nil {
		return a
	}
	a.Version, a.Missing = versionView(p, n, *cur), cur.Missing()
	if p.Policy != nil {
		a.Required = max(p.Policy.Required, 1)
	}
	if p.ExpiresAt != nil {
		a.ExpiresAt = *p.ExpiresAt
	}
	a.Signatures = b.signatures()
	a.Versions, a.Same = versionLines(p, n), sameFacts(p)
	if old, now := pickVersions(p, want.since, want.to); old != nil && now != nil {
		if a.Compare = (&views.Comparison{From: old.Number, To: now.Number}); want.changes {
			a.View, a.Compare = views.ViewChanges, comparison(p, *old, *now)
		}
		a.Views = []views.ViewLink{
			{Kind: views.ViewContent, URL: pathOperation(p.ID), Current: !want.changes},
			{Kind: views.ViewChanges, URL: compareURL(p.ID, old.Number), Current: want.changes},
		}
	}
	return a
}

func versionNumber(p *store.OperationPage, number int) *store.VersionRow {
	for i := range p.Versions {
		if p.Versions[i].Number == number {
			return &p.Versions[i]
		}
	}
	return nil
}

// versionByID gives a version of this operation; nil = it has no such version.
func versionByID(p *store.OperationPage, id operation.VersionID) *store.VersionRow {
	for i := range p.Versions {
		if p.Versions[i].ID == id {
			return &p.Versions[i]
		}
	}
	return nil
}

func versionView(p *store.OperationPage, n names, v store.VersionRow) *views.VersionView {
	out := &views.VersionView{ID: v.ID, Number: v.Number, Hash: hex.EncodeToString(v.Hash), Author: n.author(v), At: v.At, Note: v.Note,
		Content: contentView(p.ID, v), Request: requestView(p, v)}
	if out.Content.Erased {
		out.Content.Gone = erasureOf(p, n, store.RetainContents)
	}
	return out
}

// signatures lists the decisions that stand, then the places that are still open; with
// groups, the places of each group in turn.
func (b panelOf) signatures() []views.Signature {
	p, n := b.p, b.n
	if p.Policy != nil && p.Policy.Grouped() {
		return b.groupSignatures()
	}
	var out []views.Signature
	given := 0
	for _, a := range p.Standing {
		out = append(out, signature(n, a))
		if a.Decision == operation.Approve {
			given++
		}
	}
	if p.Policy == nil || p.State != operation.PendingApproval {
		return out
	}
	for range max(p.Policy.Required, 1) - given {
		out = append(out, views.Signature{Who: b.turn(n.selector(p.Policy.Approvers)), Since: timeOf(p.NextSince)})
	}
	return out
}

func signature(n names, a store.ApprovalRow) views.Signature {
	who := n.person(string(a.User))
	if a.For != "" {
		who.For = n.name(string(a.For))
	}
	return views.Signature{Given: true, Who: who, At: a.At, Comment: a.Reason, Decision: a.Decision, Preset: a.Preset, PresetWords: a.PresetWords}
}

func versionLines(p *store.OperationPage, n names) []views.VersionLine {
	var out []views.VersionLine
	for i := len(p.Versions) - 1; i >= 0; i-- {
		v := p.Versions[i]
		line := views.VersionLine{Number: v.Number, Author: n.author(v), At: v.At, Note: v.Note, Current: v.ID == p.VersionID, URL: compareURL(p.ID, v.Number)}
		for _, a := range p.Approvals {
			if a.Version == v.ID && a.Request == "" {
				line.Decisions = append(line.Decisions, signature(n, a))
			}
		}
		out = append(out, line)
	}
	return out
}
