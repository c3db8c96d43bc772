package store

import (
	"strconv"
	"strings"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// insertItemsSQL and insertBodiesSQL write a slice of items; column by column, since that is
// what costs the least.
const (
	insertItemsSQL = `INSERT INTO batch_items (batch_id, number, position, item_key, recipient, title, excluded, problems, hash)
	SELECT $1, $2, x.position, x.item_key, x.recipient, x.title, x.excluded, x.problems, NULLIF(x.hash, '')
	FROM unnest(CAST($3 AS int[]), CAST($4 AS text[]), CAST($5 AS text[]), CAST($6 AS text[]), CAST($7 AS text[]), CAST($8 AS text[]), CAST($9 AS bytea[])) AS x(position, item_key, recipient, title, excluded, problems, hash)`
	insertBodiesSQL = `INSERT INTO batch_bodies (batch_id, number, position, item, content, request, salt)
	SELECT $1, $2, x.* FROM unnest(CAST($3 AS int[]), CAST($4 AS text[]), CAST($5 AS text[]), CAST($6 AS text[]), CAST($7 AS bytea[])) AS x(position, item, content, request, salt)`
)

// writeItems writes a slice of items and their bodies.
func (b *batchBuilder) writeItems(items []madeItem) error {
	n := len(items)
	places, hashes, salts := make(pq.Int32Array, n), make(pq.ByteaArray, n), make(pq.ByteaArray, n)
	keys, recipients, titles, excluded, problems := make(pq.StringArray, n), make(pq.StringArray, n), make(pq.StringArray, n), make(pq.StringArray, n), make(pq.StringArray, n)
	entries, contents, requests := make(longTexts, n), make(longTexts, n), make(longTexts, n)
	for i := range items {
		m := &items[i]
		places[i], keys[i], recipients[i], titles[i], excluded[i] = int32(m.position), storedText(m.key), storedText(m.recipient), storedText(m.title), string(m.excluded)
		if len(m.item.Problems) > 0 {
			js, err := jsonText(m.item.Problems)
			if err != nil {
				return err
			}
			problems[i] = js
		}
		if m.key == "" {
			keys[i] = noKey(m.position)
		}
		hashes[i] = []byte{}
		if m.hash != nil {
			hashes[i] = m.hash[:]
		}
		entries[i], contents[i], requests[i], salts[i] = string(m.raw), string(m.content), m.request, m.salt
	}
	if _, err := b.exec(insertItemsSQL, string(b.id), b.number, places, keys, recipients, titles, excluded, problems, hashes); err != nil {
		return err
	}
	_, err := b.exec(insertBodiesSQL, string(b.id), b.number, places, entries, contents, requests, salts)
	return err
}

// noKey stands for the key of an entry that has none, which nobody can approve.
func noKey(position int) string { return "\x01" + strconv.Itoa(position) }

// storedText takes out the one character that PostgreSQL stores in no text.
func storedText(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// keptSalts reads what these items were in the version before.
func (b *batchBuilder) keptSalts(dst any, keys []string) error {
	return b.list2(dst, `SELECT i.item_key, x.content, x.request, x.salt FROM batch_items i JOIN batch_bodies x ON x.batch_id = i.batch_id AND x.number = i.number AND x.position = i.position
		WHERE i.batch_id = $1 AND i.number = $2 AND i.item_key = ANY($3) AND i.excluded = ''`, string(b.id), b.before, pq.Array(keys))
}

// list2 is list of the transaction; the builder's own list is the hash over its entries.
func (b *batchBuilder) list2(dst any, q string, args ...any) error { return b.tx.list(dst, q, args...) }

// suppressedOf gives those of a slice's people who get nothing now.
func (b *batchBuilder) suppressedOf(items []madeItem) (map[string]operation.SuppressionReason, error) {
	var people []string
	for _, m := range items {
		people = append(people, m.people...)
	}
	if len(people) == 0 {
		return nil, nil
	}
	return b.suppressedAmong(b.action.Effect, b.stage.Destination, people)
}

// normalAddresses gives people as they are compared; who has no address stays as given.
func normalAddresses(people []string) []string {
	out := make([]string, len(people))
	for i, p := range people {
		if out[i] = operation.NormalAddress(p); out[i] == "" {
			out[i] = p
		}
	}
	return out
}

// twins finds entries that stand twice: with the same key, or for the same people.
type twins struct{ keys, people map[string]bool }

// seen reports that the key or one of the people stood there before, and keeps them.
func (t *twins) seen(key string, people []string) bool {
	if t.keys == nil {
		t.keys, t.people = map[string]bool{}, map[string]bool{}
	}
	twice := key != "" && t.keys[key]
	for _, p := range people {
		twice = twice || t.people[operation.NormalAddress(p)]
	}
	if twice {
		return true
	}
	if key != "" {
		t.keys[key] = true
	}
	for _, p := range people {
		t.people[operation.NormalAddress(p)] = true
	}
	return false
}

// batchFinder finds what holds over all items, in one pass.
type batchFinder struct {
	facts             BatchFacts
	spread            operation.BatchSpread
	fields            operation.BatchSpread // of what is filled into shared text
	longest, emptiest int                   // lengths of the contents
	title             string
	any               bool
}

func (f *batchFinder) add(m *madeItem) {
	n := len(m.content)
	if !f.any || n > f.longest {
		f.longest, f.facts.Longest = n, m.position
	}
	if !f.any || n < f.emptiest {
		f.emptiest, f.facts.Emptiest = n, m.position
	}
	switch {
	case !f.any:
		f.title = m.title
	case m.title != f.title:
		f.title = "" // one customer's line does not stand over the others
	}
	f.any = true
	f.spread.Add(m.position, m.item.Content)
	if m.item.Fields != nil {
		f.fields.Add(m.position, m.item.Fields)
	}
	f.facts.Sum += m.item.Amount
	for _, p := range m.item.Problems {
		if f.facts.ByCode == nil {
			f.facts.ByCode = map[string]int{}
		}
		f.facts.ByCode[p.Code]++
	}
}

// found sums up; filled names the fields that are filled into shared text.
func (f *batchFinder) found(currency string, filled []string) (BatchFacts, string) {
	f.facts.Currency, f.facts.Same, f.facts.Varies = currency, f.spread.Same(), f.spread.Varies()
	f.facts.Places = f.fields.Places(filled)
	for i := range f.facts.Places {
		f.facts.Places[i].Field = true
	}
	f.facts.Places = append(f.facts.Places, f.spread.Places(f.facts.Varies)...)
	return f.facts, f.title
}
