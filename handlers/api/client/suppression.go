package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// NewSuppression says that nothing more is sent to an address.
type NewSuppression struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`            // unsubscribed, hard_bounce, complaint or manual
	Scope   string `json:"scope,omitempty"`   // what it covers: all (the default), effect, destination
	Channel string `json:"channel,omitempty"` // the effect type or the destination
	Note    string `json:"note,omitempty"`
	// Until ends it by itself; nil = it holds for good.
	Until *time.Time `json:"until,omitempty"`
}

// SuppressionsAdded says what became of the entries.
type SuppressionsAdded struct {
	Added        int      `json:"added"`
	Extended     int      `json:"extended"`     // entries that hold longer now
	Known        int      `json:"known"`        // the list had them already
	Suppressions []string `json:"suppressions"` // IDs of what was added or extended
}

// Suppression is an entry of the suppression list.
type Suppression struct {
	ID        string     `json:"id"`
	Address   string     `json:"address"`
	Scope     string     `json:"scope"`
	Channel   string     `json:"channel"`
	Reason    string     `json:"reason"`
	Note      string     `json:"note"`
	Since     time.Time  `json:"since"`
	Until     *time.Time `json:"until"`     // nil = for good
	Source    string     `json:"source"`    // person, import, callback or api
	Operation string     `json:"operation"` // whose news it follows from; "" = of none
	Lifted    *time.Time `json:"lifted"`    // nil = it holds
	LiftedWhy string     `json:"lifted_why"`
}

// SuppressionQuery narrows the suppression list. Its zero value asks for all that hold.
type SuppressionQuery struct {
	Search  string // the beginning of an address
	Reason  string
	Channel string
	Lifted  bool // those that were lifted or are over, instead of those that hold
}

// Suppressions gives the entries of the suppression list, the newest first, page by page. An
// error ends them. The token needs the scope suppressions.
func (c *Client) Suppressions(ctx context.Context, query SuppressionQuery) iter.Seq2[Suppression, error] {
	return func(yield func(Suppression, error) bool) {
		q := url.Values{"limit": {"500"}}
		for name, v := range map[string]string{"search": query.Search, "reason": query.Reason, "channel": query.Channel} {
			if v != "" {
				q.Set(name, v)
			}
		}
		if query.Lifted {
			q.Set("lifted", strconv.FormatBool(true))
		}
		for {
			var page struct {
				Suppressions []Suppression `json:"suppressions"`
				Next         string        `json:"next"`
			}
			if err := c.call(ctx, http.MethodGet, "/suppressions?"+q.Encode(), nil, &page); err != nil {
				yield(Suppression{}, err)
				return
			}
			for _, x := range page.Suppressions {
				if !yield(x, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.Set("after", page.Next)
		}
	}
}

// AddSuppressions puts at most 1000 entries on the list, all or none; note goes into the
// history. What the list has already stays, and holds longer where the new entry would: the
// same call again changes nothing.
func (c *Client) AddSuppressions(ctx context.Context, note string, entries ...NewSuppression) (SuppressionsAdded, error) {
	in := struct {
		Note    string           `json:"note,omitempty"`
		Entries []NewSuppression `json:"entries"`
	}{note, entries}
	var out SuppressionsAdded
	return out, c.call(ctx, http.MethodPost, "/suppressions", in, &out)
}

// LiftSuppression lets things be sent to the address again; the entry stays on record as
// lifted, with the reason. Lifted once more, nothing changes.
func (c *Client) LiftSuppression(ctx context.Context, id, reason string) error {
	return c.call(ctx, http.MethodDelete, "/suppressions/"+url.PathEscape(id)+"?"+url.Values{"reason": {reason}}.Encode(), nil, nil)
}
