package store_test

import (
	"testing"
	"time"

	"holdpoint/store"
)

// TestRetentionSpanAfterAnErasure: what one term erased is no touch, so the preview of
// another one gives the span of what people and jobs did.
func TestRetentionSpanAfterAnErasure(t *testing.T) {
	t.Parallel()
	f, s := inDoubt(t)
	s.must(f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("It is there."), store.Reference{ID: "cpn_1"}))
	admin := f.Fresh(t, "admin")
	ok(t, f.Store.SetRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainEvidence: 30}))
	old := time.Now().Add(-31 * 24 * time.Hour).UTC().Truncate(time.Second)
	_, err := f.Owner.Exec(`ALTER TABLE operations DISABLE TRIGGER USER; UPDATE operations SET created_at = '` + old.Format(time.RFC3339) + `', updated_at = '` + old.Format(time.RFC3339) + `'; ALTER TABLE operations ENABLE TRIGGER USER`)
	ok(t, err)
	if n, err := f.Store.SweepRetention(t.Context(), store.System("job")); n != 1 || err != nil {
		t.Fatalf("%d erased, want 1: %v", n, err)
	}
	rows, err := f.Store.FindRetention(t.Context(), admin, map[store.RetentionKind]int{store.RetainContents: 30})
	ok(t, err)
	for _, r := range rows {
		if p := r.Preview; r.Kind == store.RetainContents && (p.Operations != 1 || p.Oldest == nil || !p.Oldest.Equal(old) || !p.Newest.Equal(old)) {
			t.Errorf("%d operations from %v to %v, want one of %v", p.Operations, p.Oldest, p.Newest, old)
		}
	}
}
