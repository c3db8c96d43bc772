package store_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestAccountChanged: content that was approved for one account never goes to another. The
// same content, submitted once more, is a new version for the new account, and is approved
// as that.
func TestAccountChanged(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	applyOdd(t, f)
	e := storetest.NoteEvent()
	e.Source, e.Account, e.Topic, e.Data = "api", "demo", "odd.asked", map[string]any{"id": "1", "note": "n"}
	id := f.Receive(t, e)[0]
	f.Approve(t, id, "lead")
	moved := store.File{Name: "odd.yaml", Source: []byte(strings.Replace(string(oddFiles[0].Source), "account: a\n", "account: b\n", 1))}
	_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{moved})
	ok(t, err)
	_, err = f.Store.ClaimAndDispatch(t.Context(), runner, id, "w")
	refused(t, err, operation.CodeAccountChanged)
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), id)
	ok(t, err)
	if p.State != operation.Draft || p.VersionNo != 1 {
		t.Fatalf("it is %s with version %d", p.State, p.VersionNo)
	}
	again := store.NewVersion{Operation: id, Revision: p.Revision, Author: author(f), Content: p.Current().Content(), Submit: true}
	ok(t, f.Store.AddVersion(t.Context(), f.As("author"), again))
	f.Approve(t, id, "lead")
	d, err := f.Store.ClaimAndDispatch(t.Context(), runner, id, "w")
	ok(t, err)
	if p, err = f.Store.FindOperation(t.Context(), f.As("author"), id); err != nil || p.VersionNo != 2 || p.Current().Account != "b" || d.Attempt == "" {
		t.Errorf("version %d for %q: %v", p.VersionNo, p.Current().Account, err)
	}
}
