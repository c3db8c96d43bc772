package handlers_test

import (
	"embed"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

//go:embed testdata/*.yaml
var letterFiles embed.FS

var letterCount atomic.Int64

// letterHouse is a house with a destination that takes every kind of content, and a flow of
// a bill and a letter.
func letterHouse(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	var files []store.File
	for _, name := range []string{"letters.yaml", "letter.yaml"} {
		src, err := letterFiles.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, store.File{Name: name, Source: src})
	}
	if _, err := h.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	return h
}

// letters starts a run of the flow: its bill and its letter, both drafts.
func (h *house) letters(t *testing.T) (bill, letter operation.ID) {
	t.Helper()
	n := letterCount.Add(1)
	data := map[string]any{"to": fmt.Sprintf("c%d@example.test", n)}
	ids := h.Receive(t, store.Received{Source: "api", Account: "demo", Topic: "letter.requested", EventKey: fmt.Sprintf("letter-%d", n),
		DeliveryKey: fmt.Sprintf("letter-dlv-%d", n), Body: []byte(fmt.Sprintf(`{"to":"c%d@example.test"}`, n)), Data: data, Status: 202, EventTime: time.Now().UTC().Truncate(time.Second)})
	return ids[0], ids[1]
}

// written is a letter with this content, submitted.
func (h *house) written(t *testing.T, content map[string]any) operation.ID {
	t.Helper()
	_, letter := h.letters(t)
	newVersion(h, t, letter, "author", content, true)
	return letter
}

// letter is complete content of a letter.
func letter(with ...any) map[string]any {
	m := map[string]any{"to": []any{"ann@example.test"}, "subject": "Spring", "text": "Dear Ann,\nthank you."}
	for i := 0; i+1 < len(with); i += 2 {
		m[with[i].(string)] = with[i+1]
	}
	return m
}

// dispatched makes one attempt and lets it end in an outcome.
func (h *house) dispatched(t *testing.T, id operation.ID, outcome operation.Outcome, proof operation.Proof, reference string) store.Dispatched {
	t.Helper()
	worker := store.Job("execute")
	d, err := h.Store.ClaimAndDispatch(t.Context(), worker, id, "execute")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Store.Record(t.Context(), worker, d.Attempt, d.Fence, operation.Result{Outcome: outcome, Proof: proof, TargetReference: reference}); err != nil {
		t.Fatal(err)
	}
	return d
}
