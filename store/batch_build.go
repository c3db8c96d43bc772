package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// A slice of items is rendered and written at once: at most batchSlice of them, and fewer of
// large ones, so that one holds about sliceBytes.
const (
	batchSlice  = 1000
	firstSlice  = 50 // before it is known how large the items are
	sliceBytes  = 2 << 20
	entriesPage = 100 // entries of a stored list that are read at once
)

// batchBuilder builds one version of a batch from the entries of its list, slice by slice:
// what it keeps of an item is its hash and what tells it from others.
type batchBuilder struct {
	*tx
	id      operation.BatchID
	number  int // of the version
	before  int // number of the version before, whose items keep their salt where they stay the same; 0 = none
	flow    *definition.Flow
	stage   *definition.Stage
	profile *definition.Profile
	action  *definition.Action
	maker   *definition.ItemMaker
	now     time.Time

	// look takes the items instead of the tables: nothing is written; nil = they are written.
	look func([]madeItem) error

	made   batchMade
	hashes [][32]byte
	list   hash.Hash
	twins  twins
	facts  batchFinder
}

// batchMade is what came of a list.
type batchMade struct {
	ID         operation.BatchID
	Total      int
	Included   int
	Duplicates int
	Suppressed int
	Problems   int
	Missing    []string // shared text that is to be written
	Hash       *[32]byte
	ListHash   [32]byte
	Facts      BatchFacts
	Title      string
	Credential string
}

// madeItem is one item before it is written.
type madeItem struct {
	position  int
	entry     map[string]any
	raw       []byte // the entry as JSON
	item      definition.BatchItem
	version   operation.Version
	content   []byte // JSON
	request   string // JSON
	key       string
	recipient string
	people    []string // whom it reaches
	title     string
	excluded  operation.Exclusion
	salt      []byte
	hash      *[32]byte
	err       error
}

// newBatchBuilder prepares a version of a batch of one stage; shared is the text that is
// written once, by path.
func (t *tx) newBatchBuilder(id operation.BatchID, number int, f *definition.Flow, st *definition.Stage, dest int, ev definition.EventData, inputs map[string]any, shared map[string]string, now time.Time) (*batchBuilder, error) {
	b := &batchBuilder{tx: t, id: id, number: number, flow: f, stage: st, now: now, list: sha256.New()}
	var err error
	if b.profile, err = t.s.profileVersion(t.ctx, t.Tx, st.Destination, dest); err != nil {
		return nil, fmt.Errorf("destination %s: %w", st.Destination, err)
	}
	if b.action, err = b.profile.Action(st.Action); err != nil {
		return nil, err
	}
	if _, err := b.profile.Base(os.LookupEnv); err != nil { // told once, not as a fault of each row
		return nil, setUpFault(b.profile, err)
	}
	b.maker, err = f.ItemMaker(st.Key, ev, inputs, shared)
	return b, err
}

// build renders all entries, writes the items, and gives what came of them. An error of the
// list ends it.
func (b *batchBuilder) build(rows iter.Seq2[map[string]any, error]) (batchMade, error) {
	b.made = batchMade{ID: b.id, Missing: b.maker.Missing(), Credential: b.profile.Auth.Name()}
	slice, room, size := make([]madeItem, 0, batchSlice), firstSlice, 0
	for entry, err := range rows {
		if err != nil {
			return b.made, err
		}
		if b.made.Total++; b.made.Total > definition.MaxListItems {
			return b.made, &definition.ListError{Code: "rows", Limit: definition.MaxListItems}
		}
		size += sizeOf(entry)
		if slice = append(slice, madeItem{position: b.made.Total, entry: entry}); len(slice) >= room || size >= sliceBytes {
			if err := b.slice(slice); err != nil {
				return b.made, err
			}
			room, size = roomFor(slice), 0
			clear(slice) // nothing of it is kept
			slice = slice[:0]
		}
	}
	if err := b.slice(slice); err != nil {
		return b.made, err
	}
	b.made.ListHash = [32]byte(b.list.Sum(nil))
	b.made.Facts, b.made.Title = b.facts.found(b.stage.ForEach.Currency, b.maker.Fields())
	if b.made.Problems == 0 && len(b.made.Missing) == 0 && b.made.Included > 0 {
		h := operation.BatchHash(b.hashes)
		b.made.Hash = &h
	}
	return b.made, nil
}

// sizeOf is about how many bytes an entry's texts have.
func sizeOf(v any) (n int) {
	switch v := v.(type) {
	case string:
		return len(v)
	case map[string]any:
		for _, x := range v {
			n += sizeOf(x)
		}
	case []any:
		for _, x := range v {
			n += sizeOf(x)
		}
	}
	return n
}

// roomFor says how many items like these make a slice.
func roomFor(items []madeItem) int {
	size := 0
	for i := range items {
		size += len(items[i].raw) + len(items[i].content) + len(items[i].request)
	}
	return min(max(sliceBytes*len(items)/max(size, 1), 1), batchSlice)
}

// slice renders, judges and writes some entries.
func (b *batchBuilder) slice(items []madeItem) error {
	if len(items) == 0 {
		return nil
	}
	eachAtOnce(items, b.render)
	stopped, err := b.suppressedOf(items)
	if err != nil {
		return err
	}
	for i := range items {
		m := &items[i]
		if m.err != nil {
			return m.err
		}
		b.list.Write(m.raw)
		b.list.Write([]byte{'\n'})
		b.judge(m, stopped)
	}
	if err := b.keepSalts(items); err != nil {
		return err
	}
	if err := newSalts(items); err != nil {
		return err
	}
	eachAtOnce(items, func(m *madeItem) { m.seal(len(b.made.Missing) > 0) })
	for i := range items {
		b.count(&items[i])
	}
	if b.look != nil {
		return b.look(items)
	}
	return b.writeItems(items)
}

// eachAtOnce lets all processors work on a slice.
func eachAtOnce(items []madeItem, fn func(*madeItem)) {
	workers := min(runtime.GOMAXPROCS(0), 8)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(items); i += workers {
				fn(&items[i])
			}
		})
	}
	wg.Wait()
}

// render makes the content and the exact request of one entry.
func (b *batchBuilder) render(m *madeItem) {
	if m.raw, m.err = json.Marshal(m.entry); m.err != nil {
		return
	}
	m.item = b.maker.Item(m.entry)
	if m.content, m.err = json.Marshal(m.item.Content); m.err != nil {
		return
	}
	m.key, m.title, m.request = m.item.Key, titleOf(m.item.Content), "{}"
	v, err := b.action.Render(m.item.Content, os.LookupEnv, b.now)
	var incomplete *definition.ContentError
	switch {
	case errors.As(err, &incomplete):
		for _, f := range incomplete.Fields {
			if !slices.Contains(b.made.Missing, f) && !m.told(f) {
				m.problem(definition.ProblemContent, f)
			}
		}
		v.Content = m.content
	case err != nil:
		m.err = setUpFault(b.profile, err)
		return
	default:
		m.version = v
		if m.request, m.err = jsonText(v.Request); m.err != nil {
			return
		}
	}
	m.people = b.action.Recipients(m.content, v.Request)
	m.recipient = strings.Join(normalAddresses(m.people), ", ") // whole: the suppression list is asked by it again
	if m.key == "" && b.stage.ForEach.Key == "" {
		m.key = strings.Join(m.people, ",")
		if operation.CheckItemKey(m.key) != nil {
			m.key = ""
			if len(b.made.Missing) == 0 && len(m.item.Told) == 0 {
				m.problem(definition.ProblemKey, "")
			}
		}
	}
}

// setUpFault refuses everything that is to go to a destination which is not set up: it names
// the destination, and what is to be mended there.
func setUpFault(p *definition.Profile, err error) error {
	return operation.Refuse(operation.CodeDestinationSetUp, "item", p.Destination, "why", err.Error()).By(operation.Responsible{Role: operation.RoleAdmin})
}

// told reports that the item's problems say already why this place of its content is at fault.
func (m *madeItem) told(place string) bool {
	return slices.ContainsFunc(m.item.Told, func(p string) bool { return place == p || strings.HasPrefix(place, p+".") })
}

func (m *madeItem) problem(code, field string) {
	if p := (definition.ItemProblem{Code: code, Field: field}); !slices.Contains(m.item.Problems, p) {
		m.item.Problems = append(m.item.Problems, p)
	}
}

// judge finds out whether an item is left out.
func (b *batchBuilder) judge(m *madeItem, stopped map[string]operation.SuppressionReason) {
	switch {
	case b.twins.seen(m.key, m.people):
		m.excluded = operation.ExcludedDuplicate
	case slices.ContainsFunc(m.people, func(p string) bool { return stopped[operation.NormalAddress(p)] != "" }):
		m.excluded = operation.ExcludedSuppressed
	}
	if m.excluded != "" {
		m.item.Problems, m.request, m.content = nil, "{}", []byte("{}")
	}
}

// seal hashes what is to be approved, and only that.
func (m *madeItem) seal(missing bool) {
	if m.excluded != "" || missing || len(m.item.Problems) > 0 {
		return
	}
	h, err := m.version.Hash(m.salt)
	if err != nil { // a number that no double holds exactly, a key that stands twice
		m.problem(definition.ProblemContent, "")
		return
	}
	m.hash = &h
}

// count adds an item to what was found over all of them.
func (b *batchBuilder) count(m *madeItem) {
	switch m.excluded {
	case operation.ExcludedDuplicate:
		b.made.Duplicates++
		return
	case operation.ExcludedSuppressed:
		b.made.Suppressed++
		return
	}
	b.made.Included++
	if len(m.item.Problems) > 0 {
		b.made.Problems++
	}
	if m.hash != nil {
		b.hashes = append(b.hashes, *m.hash)
	}
	b.facts.add(m)
}

// keepSalts gives items that stay what they were in the version before the salt that they
// had: their hash stays, so that versions can be compared by hashes.
func (b *batchBuilder) keepSalts(items []madeItem) error {
	if b.before == 0 {
		return nil
	}
	keys, at := make([]string, 0, len(items)), map[string]int{}
	for i, m := range items {
		if m.excluded == "" && m.key != "" {
			keys, at[m.key] = append(keys, m.key), i
		}
	}
	var old []struct {
		Key     string `db:"item_key"`
		Content string `db:"content"`
		Request string `db:"request"`
		Salt    []byte `db:"salt"`
	}
	if err := b.keptSalts(&old, keys); err != nil {
		return err
	}
	for _, o := range old {
		if m := &items[at[o.Key]]; o.Content == string(m.content) && o.Request == m.request {
			m.salt = o.Salt
		}
	}
	return nil
}

// newSalts gives every item that has none a salt of its own.
func newSalts(items []madeItem) error {
	const size = 16
	all := make([]byte, size*len(items))
	if _, err := rand.Read(all); err != nil {
		return err
	}
	for i := range items {
		if items[i].salt == nil {
			items[i].salt = all[i*size : (i+1)*size : (i+1)*size]
		}
	}
	return nil
}
