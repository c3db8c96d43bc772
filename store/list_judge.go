package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// How many rows a look at a list keeps of each kind.
const (
	listFirst = 3  // rendered, as they would be sent
	listOdd   = 50 // that cannot go out
	listLeft  = 20 // that are left out
	listKeys  = 10 // of each difference
)

// ListJudged is what a look at a list found. Nothing was written for it; what holds is
// found out again when the batch is made.
type ListJudged struct {
	At         time.Time    `json:"at"`
	Total      int          `json:"total"`
	Included   int          `json:"included"` // to be sent, with those that cannot go out yet
	Duplicates int          `json:"duplicates"`
	Suppressed int          `json:"suppressed"`
	Problems   int          `json:"problems"`
	Missing    []string     `json:"missing,omitempty"` // shared text that is to be written
	Wrong      []string     `json:"wrong,omitempty"`   // the flow's other inputs that are missing or do not fit
	Fault      *ListFault   `json:"fault,omitempty"`   // the list cannot be read so; nothing else was found
	Header     []string     `json:"header,omitempty"`  // of a CSV file
	First      []JudgedItem `json:"first,omitempty"`
	Odd        []JudgedItem `json:"odd,omitempty"`
	Left       []JudgedItem `json:"left,omitempty"`
	Diff       *ListDiff    `json:"diff,omitempty"` // of a list that is to replace a batch's
}

// ListFault says why a list cannot be read.
type ListFault struct {
	Code  string `json:"code"` // of definition.TableError, definition.ReadEntry or definition.ListError
	Line  int    `json:"line,omitempty"`
	Limit int    `json:"limit,omitempty"`
	Key   string `json:"key,omitempty"` // the member that stands twice or holds U+0000
}

// Error names code and line.
func (f *ListFault) Error() string {
	return (&definition.TableError{Code: f.Code, Line: f.Line}).Error()
}

// JudgedItem is one row of a list as it was judged.
type JudgedItem struct {
	Position  int                      `json:"position"`
	Key       string                   `json:"key"`
	Recipient string                   `json:"recipient,omitempty"`
	Title     string                   `json:"title,omitempty"`
	Excluded  operation.Exclusion      `json:"excluded,omitempty"`
	Problems  []definition.ItemProblem `json:"problems,omitempty"`
	Content   json.RawMessage          `json:"content,omitempty"`
	Request   json.RawMessage          `json:"request,omitempty"`
}

// ListDiff is what would change against the batch's current version.
type ListDiff struct {
	From    int      `json:"from"`
	Added   int      `json:"added"`
	Dropped int      `json:"dropped"`
	Changed int      `json:"changed"`
	Same    int      `json:"same"`
	Adds    []string `json:"adds,omitempty"` // keys, the first of them
	Drops   []string `json:"drops,omitempty"`
	Changes []string `json:"changes,omitempty"`
}

// judging is a list that is looked at as if a batch were made of it.
type judging struct {
	flow   *definition.Flow
	stage  *definition.Stage
	event  definition.EventData
	inputs map[string]any
	shared map[string]string
	batch  operation.BatchID // whose list it would replace; "" = none
	number int               // of its current version
	each   func(JudgedItem) error
}

// judge looks at every row. A list that cannot be read is a *ListFault.
func (s *Store) judge(ctx context.Context, j judging, rows iter.Seq2[map[string]any, error]) (*ListJudged, error) {
	var out *ListJudged
	err := s.write(ctx, func(t *tx) error { // in one transaction, which writes nothing
		var dest int
		if err := t.get(&dest, `SELECT version FROM destinations WHERE name = $1`, j.stage.Destination); err != nil {
			return err
		}
		var now time.Time
		if err := t.get(&now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		b, err := t.newBatchBuilder(j.batch, j.number+1, j.flow, j.stage, dest, j.event, j.inputs, j.shared, now)
		if err != nil {
			return err
		}
		b.before = j.number
		l := &listLook{tx: t, j: j, out: &ListJudged{At: now}, keys: map[string]bool{}}
		if j.number > 0 {
			l.out.Diff = &ListDiff{From: j.number}
		}
		b.look = l.slice
		made, err := b.build(rows)
		if err != nil {
			return err
		}
		out = l.out
		out.Total, out.Included, out.Duplicates, out.Suppressed, out.Problems, out.Missing = made.Total, made.Included, made.Duplicates, made.Suppressed, made.Problems, made.Missing
		if err := l.dropped(); err != nil {
			return err
		}
		return errDone
	})
	var none *definition.ListError
	if errors.As(err, &none) {
		return nil, &ListFault{Code: none.Code, Limit: none.Limit}
	}
	return out, err
}

// listLook keeps of the rows what is shown.
type listLook struct {
	*tx
	j    judging
	out  *ListJudged
	keys map[string]bool
}

func (l *listLook) slice(items []madeItem) error {
	for i := range items {
		m := &items[i]
		switch {
		case m.excluded != "":
			keep(&l.out.Left, listLeft, m)
		case len(m.item.Problems) > 0:
			keep(&l.out.Odd, listOdd, m)
		case len(l.out.First) < listFirst:
			keep(&l.out.First, listFirst, m)
			first := &l.out.First[len(l.out.First)-1]
			first.Content, first.Request = m.content, json.RawMessage(m.request)
		}
		if l.j.each != nil {
			if err := l.j.each(judgedItem(m)); err != nil {
				return err
			}
		}
	}
	return l.compare(items)
}

func keep(list *[]JudgedItem, most int, m *madeItem) {
	if len(*list) < most {
		*list = append(*list, judgedItem(m))
	}
}

func judgedItem(m *madeItem) JudgedItem {
	out := JudgedItem{Position: m.position, Key: strings.TrimPrefix(m.key, noKey(m.position)), Recipient: m.recipient, Title: m.title, Excluded: m.excluded}
	out.Problems = append(out.Problems, m.item.Problems...)
	return out
}

// compare finds rows of a slice in the version that is there, by their key.
func (l *listLook) compare(items []madeItem) error {
	d := l.out.Diff
	if d == nil {
		return nil
	}
	var keys []string
	at := map[string]*madeItem{}
	for i := range items {
		if m := &items[i]; m.excluded == "" {
			keys, at[m.key], l.keys[m.key] = append(keys, m.key), m, true
		}
	}
	var old []struct {
		Key     string `db:"item_key"`
		Content string `db:"content"`
		Request string `db:"request"`
	}
	if err := l.list(&old, `SELECT i.item_key, COALESCE(x.content, '') AS content, COALESCE(x.request, '') AS request FROM batch_items i
		LEFT JOIN batch_bodies x ON x.batch_id = i.batch_id AND x.number = i.number AND x.position = i.position
		WHERE i.batch_id = $1 AND i.number = $2 AND i.item_key = ANY($3) AND i.excluded = ''`, string(l.j.batch), l.j.number, pq.Array(keys)); err != nil {
		return err
	}
	was := map[string]bool{}
	for _, o := range old {
		m := at[o.Key]
		if was[o.Key] = true; o.Content == string(m.content) && o.Request == m.request {
			d.Same++
			continue
		}
		if d.Changed++; len(d.Changes) < listKeys {
			d.Changes = append(d.Changes, o.Key)
		}
	}
	for _, key := range keys {
		if was[key] {
			continue
		}
		if d.Added++; len(d.Adds) < listKeys {
			d.Adds = append(d.Adds, key)
		}
	}
	return nil
}

// dropped counts the rows of the version that is there which the list does not hold.
func (l *listLook) dropped() error {
	d := l.out.Diff
	if d == nil {
		return nil
	}
	for after := 0; ; {
		var page []struct {
			Key      string `db:"item_key"`
			Position int    `db:"position"`
			Excluded string `db:"excluded"`
		}
		if err := l.list(&page, `SELECT item_key, position, excluded FROM batch_items WHERE batch_id = $1 AND number = $2 AND position > $3 ORDER BY position LIMIT $4`,
			string(l.j.batch), l.j.number, after, batchSlice); err != nil {
			return err
		}
		for _, x := range page {
			after = x.Position
			if x.Excluded != "" || l.keys[x.Key] {
				continue
			}
			if d.Dropped++; len(d.Drops) < listKeys {
				d.Drops = append(d.Drops, x.Key)
			}
		}
		if len(page) < batchSlice {
			return nil
		}
	}
}

// Found reads what the last look at a list found; nil = none yet.
func (l ListFile) Found() *ListJudged {
	var out ListJudged
	if l.Judged == "" || json.Unmarshal([]byte(l.Judged), &out) != nil {
		return nil
	}
	return &out
}

// plainLists leaves the lists out of a flow's inputs: they come by themselves.
func plainLists(f *definition.Flow, wrong []string) []string {
	return slices.DeleteFunc(wrong, func(path string) bool { return slices.Contains(f.ListInputs(), path) })
}
