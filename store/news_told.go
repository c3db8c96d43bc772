package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// Callback is news from a destination about an effect: delivered, bounced, created …
type Callback struct {
	Operation   operation.ID
	Destination string
	Key         string       // the same news has the same key; "" = it is known by what it says
	Names       operation.ID // the operation that it names itself; "" = it is found by its reference
	Kind        operation.NewsKind
	Reference   string
	URL         string
	Body        string    // masked JSON
	At          time.Time // by the destination's clock; zero = it does not say
}

// post is the news as it is written. What names its operation and what does not are two
// pieces of news, each with its own key.
func (c Callback) post(account string) NewsPost {
	if c.Key == "" {
		sum := sha256.Sum256([]byte(strings.Join([]string{string(c.Names), string(c.Kind), c.Reference, c.Body}, "\x00")))
		c.Key = "sha256:" + hex.EncodeToString(sum[:])
	}
	return NewsPost{Destination: c.Destination, Account: account, Entries: []definition.News{
		{Key: c.Key, Kind: c.Kind, Operation: c.Names, Reference: c.Reference, URL: c.URL, At: c.At, Item: c.Body}}}
}

// RecordCallback keeps news of a known operation as evidence and lets it act: proof of an
// effect confirms; delivery news moves the delivery fact forward and never lowers
// confirmed. The same news again changes nothing, unless it waited for its operation.
func (s *Store) RecordCallback(ctx context.Context, a Actor, c Callback) error {
	return s.change(ctx, a, c.Operation, func(u *unit) error {
		if c.Destination != u.op.Destination {
			return ErrNotFound
		}
		post := c.post(u.op.Account)
		rows, err := newsRows(post)
		if err != nil {
			return err
		}
		var ids []NewsID
		if err := u.addNews(rows, 1, &ids); err != nil {
			return err
		}
		if len(ids) == 0 {
			err := u.list(&ids, `SELECT id FROM news WHERE destination = $1 AND news_key = $2 AND kind = $3 AND names = $4 AND reference = $5 AND account = $6 AND state = 'waiting'`,
				c.Destination, post.Entries[0].Key, string(c.Kind), string(c.Names), clean(c.Reference), u.op.Account)
			if err != nil || len(ids) == 0 {
				return err
			}
		}
		n, err := u.lockNews(ids[0])
		if err != nil || n.State != NewsWaiting {
			return err
		}
		if err := u.tied(n, "", ""); err != nil {
			return err
		}
		return u.told(c, "destination", "news", string(n.ID))
	})
}

// HoldCallback keeps news that somebody passed on and whose operation is not known: it
// waits for it, as what a destination sends itself does. The same again is counted.
func (s *Store) HoldCallback(ctx context.Context, a Actor, account string, c Callback) error {
	rows, err := newsRows(c.post(account))
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		// The row of the destination first: news refers to it, and two that both refer to
		// it could not both go on to its history.
		if _, err := t.lockHead(operation.SubjectDestination, c.Destination); err != nil {
			return err
		}
		var ids []NewsID
		if err := t.addNews(rows, 1, &ids); err != nil || len(ids) == 0 {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectDestination, c.Destination, "news_held", "", "news", string(ids[0]), "kind", string(c.Kind), "reference", c.Reference)
	})
}

// told keeps news as evidence of the locked operation and lets it act. by is who says that
// it is about this operation: the destination, or a person who tied it.
func (u *unit) told(c Callback, by string, more ...string) error {
	u.addEvidence("", "callback", string(c.Kind), c.Reference, c.URL, c.Body)
	h := sha256.Sum256([]byte(c.Body))
	links := append([]string{"kind", string(c.Kind), "reference", c.Reference, "evidence_hash", hexOf(h[:])}, more...)
	u.note(u.op, "callback", "", links...)
	// An effect tells of itself also when another one is confirmed already; news of a
	// delivery may name the one effect in another way.
	former, err := u.formerEffect(c.Reference)
	if err != nil {
		return err
	}
	if c.Kind.Names() || c.Kind.Proves() && u.op.State != operation.Confirmed || former && c.Kind.Stage().Reached() {
		if err := u.effectFound(by, c.Reference, c.URL, time.Time{}, links...); err != nil {
			return err
		}
	}
	if c.Kind == operation.NewsContradiction && !former {
		u.denied(links)
	}
	if err := u.suppressRecipient(c.Kind); err != nil || former {
		return err // it is no news of the effect that is there now
	}
	return u.deliveryNews(c.Kind)
}

// remedyDenied is the owner's open work on a confirmed effect of which the destination says
// later that there is none. What is confirmed stays so: a person decides whether to
// dispute it.
const remedyDenied = "denied"

func (u *unit) denied(links []string) {
	o := u.op
	u.note(o, remedyDenied, "", links...)
	if o.State == operation.Confirmed && (o.Remedy == "" || o.Remedy == remedySilence) {
		o.Remedy, o.DeliverBy, o.replanned = remedyDenied, nil, true
	}
}

// deliveryNews moves the delivery fact forward, and never back. What waits for news ends
// its waiting.
func (u *unit) deliveryNews(kind operation.NewsKind) error {
	o := u.op
	stage := kind.Stage()
	if kind == operation.NewsEffect && !isMail(o.EffectType) {
		u.heard()
	}
	if !stage.Further(operation.Delivery(o.Delivery)) {
		return nil
	}
	o.Delivery = string(stage)
	o.replanned = true
	if stage == operation.DeliveryAccepted {
		return nil // accepted is not delivered (FC-40)
	}
	u.heard()
	if stage.Failed() {
		o.Remedy = string(stage)
	}
	return u.stageClosed(o)
}

// heard ends the waiting for news.
func (u *unit) heard() {
	o := u.op
	if o.DeliverBy != nil || o.Remedy == remedySilence {
		o.DeliverBy, o.replanned = nil, true
	}
	if o.Remedy == remedySilence {
		o.Remedy = "" // the news has come after all
	}
}

func isMail(effect string) bool { return effect == "mail" || effect == "email" }

// awaitNews plans by when news of a confirmed effect must have come: as the flow says, else
// the destination's profile.
func (u *unit) awaitNews() {
	o := u.op
	var within time.Duration
	if st, ok := stageOf(u.flow, o.Stage); ok && isMail(o.EffectType) {
		within = st.DeliveredWithin
	}
	if c := u.profile.Callbacks; within == 0 && c != nil {
		within = c.Within
	}
	if within > 0 {
		o.DeliverBy = timePtr(u.now.Add(within))
	}
}
