package store_test

import (
	"errors"
	"os"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

var command = store.System("command")

// refused fails unless err is a refusal with this code.
func refused(t *testing.T, err error, code operation.Code) {
	t.Helper()
	var r *operation.Refusal
	if !errors.As(err, &r) || r.Code != code {
		t.Errorf("err = %v, want a refusal with %s", err, code)
	}
}

// invalid fails unless err is input to be corrected, with this code.
func invalid(t *testing.T, err error, code string) {
	t.Helper()
	var i *store.Invalid
	if !errors.As(err, &i) || i.Code != code {
		t.Errorf("err = %v, want %s", err, code)
	}
}

func gone(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("err = %v, want ErrNotFound", err)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// whole fails unless a subject's history verifies and its head is the stored one.
func whole(t *testing.T, s *store.Store, kind operation.SubjectKind, id string) []store.HistoryRow {
	t.Helper()
	rows, broken, err := s.ListHistory(t.Context(), kind, id)
	ok(t, err)
	if broken > 0 {
		t.Errorf("the history of %s %s breaks at entry %d", kind, id, broken)
	}
	return rows
}
