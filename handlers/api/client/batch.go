package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// NewBatch makes a batch of a list: one operation for each item, approved by one decision.
type NewBatch struct {
	Flow   string            `json:"flow"`
	Stage  string            `json:"stage,omitempty"`   // needed only where the flow has several lists
	RunKey string            `json:"run_key,omitempty"` // default: the idempotency key of this token
	Name   string            `json:"name,omitempty"`    // of the list, for people
	Note   string            `json:"note,omitempty"`
	Inputs map[string]any    `json:"inputs,omitempty"` // the flow's other inputs
	Shared map[string]string `json:"shared,omitempty"` // text that is the same for all items, by its place in the content
	Author *Model            `json:"author,omitempty"` // when a model wrote Shared
	// Problems "draft" keeps a list with rows that cannot go out as a draft; "" refuses it.
	Problems string `json:"problems,omitempty"`
}

// BatchCreated says what a list became.
type BatchCreated struct {
	Batch      string   `json:"batch"`
	Batches    []string `json:"batches"`
	Run        string   `json:"run"`
	Repeated   bool     `json:"repeated"`
	State      string   `json:"state"`
	Total      int      `json:"total"`
	Included   int      `json:"included"`
	Duplicates int      `json:"duplicates"`
	Suppressed int      `json:"suppressed"`
	Problems   int      `json:"problems"`
	Missing    []string `json:"missing"`
	Link       string   `json:"link"`
}

// Batch is a list whose items are approved as one.
type Batch struct {
	ID           string          `json:"id"`
	Run          string          `json:"run"`
	Flow         string          `json:"flow"`
	Stage        string          `json:"stage"`
	State        string          `json:"state"`
	Revision     int64           `json:"revision"`
	Number       int             `json:"number"`
	Counts       BatchCounts     `json:"counts"`
	Decisions    []BatchDecision `json:"decisions"`
	NextDecision *NextDecision   `json:"next_decision"`
	Paused       bool            `json:"paused"`
	PausedBy     string          `json:"paused_by"` // a person, a token, or the batch's own limit: errors, unknown, bounced
	PauseReason  string          `json:"pause_reason"`
	Measured     *BatchAlarm     `json:"pause_measured"` // why it paused by itself; nil = it did not
	Stopped      bool            `json:"stopped"`
	Link         string          `json:"link"`
}

// BatchAlarm is what made a batch pause by itself.
type BatchAlarm struct {
	Kind  string   `json:"kind"` // errors, unknown, bounced
	Count int      `json:"count"`
	Of    int      `json:"of"`    // how many of the last were looked at
	Limit *float64 `json:"limit"` // in percent; nil = it is not known
}

// BatchCounts says where every entry of the list is; the parts add up to Total.
type BatchCounts struct {
	Total      int            `json:"total"`
	Duplicates int            `json:"duplicates"`
	Suppressed int            `json:"suppressed"`
	Waiting    int            `json:"waiting"`
	GivenUp    int            `json:"given_up"`
	States     map[string]int `json:"states"` // operations
}

// BatchDecision is one person's.
type BatchDecision struct {
	Decision string    `json:"decision"`
	Phase    string    `json:"phase"`
	User     string    `json:"user"`
	At       time.Time `json:"at"`
	Reason   string    `json:"reason"`
}

// BatchItem is one entry of the list and what it became.
type BatchItem struct {
	Position  int           `json:"position"`
	Key       string        `json:"key"`
	Recipient string        `json:"recipient"`
	Excluded  string        `json:"excluded"` // why it is not sent
	Problems  []ItemProblem `json:"problems"`
	Operation string        `json:"operation"`
	State     string        `json:"state"`
	Link      string        `json:"link"`
}

// ItemProblem is why an item cannot go out.
type ItemProblem struct {
	Code  string `json:"code"`
	Field string `json:"field"`
}

// ListRow is a row that cannot go out, as Problem.Rows names them.
type ListRow struct {
	Row      int           `json:"row"`
	Key      string        `json:"key"`
	Problems []ItemProblem `json:"problems"`
}

// CreateBatch sends a list item by item, as items gives them, under the caller's own key:
// never more than one of them is in memory. The same key with the same list gives the same
// batch: repeat the call, with items from the beginning, until it is answered. A *Problem
// with the code rows names rows that cannot go out; nothing is stored then.
func (c *Client) CreateBatch(ctx context.Context, key string, n NewBatch, items iter.Seq[any]) (BatchCreated, error) {
	head, err := json.Marshal(n)
	if err != nil {
		return BatchCreated{}, err
	}
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(writeItems(w, head, items)) }()
	defer r.Close()
	var out BatchCreated
	return out, c.send(ctx, http.MethodPost, "/batches", r, &out, "Idempotency-Key", strconv.Quote(key))
}

func writeItems(w io.Writer, head []byte, items iter.Seq[any]) error {
	if _, err := w.Write(append(head[:len(head)-1:len(head)-1], `,"items":[`...)); err != nil {
		return err
	}
	before := ""
	for item := range items {
		raw, err := json.Marshal(item)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, before+string(raw)); err != nil {
			return err
		}
		before = ","
	}
	_, err := io.WriteString(w, "]}")
	return err
}

// Batch reads a batch.
func (c *Client) Batch(ctx context.Context, id string) (Batch, error) {
	var out Batch
	return out, c.call(ctx, http.MethodGet, "/batches/"+url.PathEscape(id), nil, &out)
}

// BatchItems gives the items of a batch in the list's order, page by page. only is "",
// waiting, excluded, duplicate, suppressed, problem or open. An error ends them.
func (c *Client) BatchItems(ctx context.Context, id, only string) iter.Seq2[BatchItem, error] {
	return func(yield func(BatchItem, error) bool) {
		for after := 0; ; {
			var page struct {
				Items []BatchItem `json:"items"`
				Next  int         `json:"next"`
			}
			q := url.Values{"limit": {"500"}, "after": {strconv.Itoa(after)}}
			if only != "" {
				q.Set("only", only)
			}
			if err := c.call(ctx, http.MethodGet, fmt.Sprintf("/batches/%s/items?%s", url.PathEscape(id), q.Encode()), nil, &page); err != nil {
				yield(BatchItem{}, err)
				return
			}
			for _, x := range page.Items {
				if !yield(x, nil) {
					return
				}
			}
			if after = page.Next; after == 0 {
				return
			}
		}
	}
}

// PauseBatch begins no more of a batch until it is resumed.
func (c *Client) PauseBatch(ctx context.Context, id, reason string) (Batch, error) {
	return c.halt(ctx, id, "pause", reason)
}

// ResumeBatch lets a batch go on that a token paused. What a person paused, or the batch's
// own limits, is a person's to end.
func (c *Client) ResumeBatch(ctx context.Context, id, reason string) (Batch, error) {
	return c.halt(ctx, id, "resume", reason)
}

// StopBatch gives the unsent rest of a batch up for good.
func (c *Client) StopBatch(ctx context.Context, id, reason string) (Batch, error) {
	return c.halt(ctx, id, "stop", reason)
}

func (c *Client) halt(ctx context.Context, id, verb, reason string) (Batch, error) {
	var out Batch
	return out, c.call(ctx, http.MethodPost, "/batches/"+url.PathEscape(id)+"/"+verb, map[string]string{"reason": reason}, &out)
}
