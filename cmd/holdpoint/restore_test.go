package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBackupAndRestore does what the page for operators says, word for word: a dump while
// Holdpoint works, more work, a restore into a new database, the reconciling.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	r := newRestoring(t)
	asked := r.Receive(t, storetest.CouponEvent())[0]
	ready := r.Ready(t)
	if err := r.Store.PauseOperation(t.Context(), r.As("ops"), ready, "the shop asks to wait"); err != nil {
		t.Fatal(err)
	}
	old := r.h.with("DATABASE_URL=" + r.AppURL)
	p, _ := old.start("listening", serveArgs()...)
	first := r.published(0)

	backup, restore := shellOf(t, "Backup"), shellOf(t, "Restore")
	if len(backup) < 2 || len(restore) != 2 {
		t.Fatalf("%d blocks about the backup, %d about the restore", len(backup), len(restore))
	}
	r.sh.run(backup[0])
	dumps, err := filepath.Glob(filepath.Join(r.sh.dir, "holdpoint-*.dump"))
	if err != nil || len(dumps) != 1 {
		t.Fatalf("%v, %v", dumps, err)
	}
	plain := filepath.Join(r.sh.dir, "holdpoint.sql")
	r.sh.run(`pg_dump --format=plain --file=` + plain + ` "$HOLDPOINT_MIGRATE_URL"`)

	// The world goes on: decisions and an operation of which the backup knows nothing.
	r.Approve(t, asked, "lead")
	lost := r.Receive(t, storetest.InvoiceEvent())[0]
	r.published(first)
	if code := p.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	if said, code := r.verify(r.AppURL); code != 0 {
		t.Errorf("the old database: %d, %s", code, said)
	}

	r.into()
	r.sh.env = append(r.sh.env, "DUMP="+dumps[0])
	r.sh.run(restore[0])
	r.restoredWhole()
	if said, code := r.verify(r.newApp); code != exitBroken || !strings.Contains(said, "older") {
		t.Errorf("the restored database: %d, %s", code, said)
	}
	r.reconciled(asked, ready, lost)

	// The same from plain SQL.
	r.into()
	r.sh.env = append(r.sh.env, "DUMP="+plain)
	r.sh.run(restore[1])
	r.restoredWhole()
}

// reconciled starts the product on the restored database, and goes the way of the page
// until sends may go on.
func (r *restoring) reconciled(asked, ready, lost operation.ID) {
	t := r.t
	t.Helper()
	h := r.h.with("DATABASE_URL=" + r.newApp)
	p, said := h.start("listening", serveArgs()...)
	if !strings.Contains(p.log.String(), "ALL SENDS ARE PAUSED") {
		t.Error("the log says nothing")
	}
	st := r.Open(t, r.newApp)
	in, err := st.FindInstallation(t.Context())
	if err != nil || in.Paused == nil || !strings.HasPrefix(in.Paused.Reason, store.MismatchOlder) {
		t.Fatalf("paused: %+v, %v", in.Paused, err)
	}
	eventually(t, "not every listed operation has its entry", func() bool {
		_, n, err := st.FindRestore(t.Context())
		return err == nil && n.All > 0 && n.Unmarked == 0
	})
	base := said["url"].(string)
	if all := r.pageAs(st, "admin", base+"/installation"); !strings.Contains(all, "/installation/restore") {
		t.Error("the page of the pause does not lead to what is to be reconciled")
	}
	list := r.pageAs(st, "admin", base+"/installation/restore")
	for id, want := range map[operation.ID]bool{asked: true, ready: true, lost: false} {
		if strings.Contains(list, "/operations/"+string(id)) != want {
			t.Errorf("%s is listed: %v", id, !want)
		}
	}
	if got, err := st.FindOperation(t.Context(), r.As("admin"), asked); err != nil || got.State != operation.PendingApproval {
		t.Errorf("the approval that was lost: %+v, %v", got.State, err)
	}
	var refusal *operation.Refusal
	if err := st.ResumeAll(t.Context(), r.As("admin"), "it will be fine"); !errors.As(err, &refusal) || refusal.Code != operation.CodeRestoreOpen {
		t.Errorf("resumed before anything was compared: %v", err)
	}
	if _, code := r.verify(r.newApp); code != exitBroken {
		t.Errorf("verified before it was reconciled: %d", code)
	}
	before, err := r.checkpoints.Newest()
	if err != nil {
		t.Fatal(err)
	}
	if done := reconcile(t, st, r.Fixture, "compared with the shop's log"); len(done) < 2 {
		t.Errorf("only %v were to be compared", done)
	}
	if err := st.ResumeAll(t.Context(), r.As("admin"), "compared with the shop's log"); err != nil {
		t.Fatal(err)
	}
	// Checkpoints go on in a new line, and the restored history verifies.
	eventually(t, "no checkpoint of a new line", func() bool {
		c, err := r.checkpoints.Newest()
		return err == nil && c.Line > before.Line
	})
	if code := p.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	if said, code := r.verify(r.newApp); code != 0 || !strings.Contains(said, "left behind") {
		t.Errorf("after the reconciling: %d, %s", code, said)
	}
	if said, code := r.verify(r.AppURL); code != exitBroken {
		t.Errorf("the database that was left behind: %d, %s", code, said)
	}
	if n := count(t, r.newOwner, `attempts`); n != 0 {
		t.Errorf("%d attempts; nothing was to be sent", n)
	}
}

func count(t *testing.T, address, from string) (n int) {
	t.Helper()
	if err := open(t, address).QueryRow(fmt.Sprintf(`SELECT count(*) FROM %s`, from)).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
