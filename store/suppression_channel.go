package store

import (
	"context"
	"slices"

	"holdpoint/operation"
)

// suppressionChannels are the effect types and destinations that profiles have.
type suppressionChannels struct {
	names map[operation.SuppressionScope][]string
	mails []string // destinations at which nothing but mails reaches anybody
}

// mail reports whether the recipients of a channel are mail addresses.
func (c suppressionChannels) mail(scope operation.SuppressionScope, channel string) bool {
	return scope == operation.SuppressEffect && isMail(channel) || scope == operation.SuppressDestination && slices.Contains(c.mails, channel)
}

// check refuses a destination or an effect type that no profile has, and what is no address
// there: nobody would be suppressed by it.
func (c suppressionChannels) check(n NewSuppression) *Invalid {
	if n.Scope != operation.SuppressAll && !slices.Contains(c.names[n.Scope], n.Channel) {
		return &Invalid{Field: "channel", Code: "suppression_channel"}
	}
	if !operation.IsAddress(n.Address, n.Scope, c.mail(n.Scope, n.Channel)) {
		return n.noAddress()
	}
	return nil
}

// noAddress says that no recipient is called so, and for everything what is accepted there.
func (n NewSuppression) noAddress() *Invalid {
	if n.Scope == operation.SuppressAll {
		return &Invalid{Field: "address", Code: "address_all"}
	}
	return &Invalid{Field: "address", Code: "address_form"}
}

// channels gives the effect types and destinations that profiles have.
func (t *tx) channels() (suppressionChannels, error) {
	out := suppressionChannels{names: map[operation.SuppressionScope][]string{}}
	var have []struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	if err := t.list(&have, `SELECT name, version FROM destinations ORDER BY name`); err != nil {
		return out, err
	}
	for _, h := range have {
		out.names[operation.SuppressDestination] = append(out.names[operation.SuppressDestination], h.Name)
		p, err := t.s.profileVersion(t.ctx, t.Tx, h.Name, h.Version)
		if err != nil {
			return out, err
		}
		mails, others := false, false
		for _, act := range p.Actions {
			if !slices.Contains(out.names[operation.SuppressEffect], act.Effect) {
				out.names[operation.SuppressEffect] = append(out.names[operation.SuppressEffect], act.Effect)
			}
			mails = mails || isMail(act.Effect)
			others = others || !isMail(act.Effect) && act.NamesRecipients()
		}
		if mails && !others {
			out.mails = append(out.mails, h.Name)
		}
	}
	slices.Sort(out.names[operation.SuppressEffect])
	return out, nil
}

// SuppressesMails reports whether a channel's recipients are mail addresses.
func (s *Store) SuppressesMails(ctx context.Context, scope operation.SuppressionScope, channel string) (mails bool, err error) {
	err = s.snapshot(ctx, func(t *tx) error {
		known, err := t.channels()
		mails = known.mail(scope, channel)
		return err
	})
	return mails, err
}
