package bench

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/pglocal"
)

//go:embed *.yaml
var definitions embed.FS

// house is the measured installation: its own durable PostgreSQL and a store on it.
type house struct {
	pg       *pglocal.Server
	st       *store.Store
	approver store.Actor
	log      io.Writer
	key      string // file of the installation's secret; "" = of this run alone
}

// build starts a durable PostgreSQL on a free port with the reference's settings
// (PERFORMANCE, Conditions), migrates it and adds one flow and one approver.
func build(ctx context.Context, conns int, log io.Writer) (*house, error) {
	return buildIn(ctx, "", conns, log)
}

// buildIn builds in a folder that stays; "" is a folder for this run alone. A house that
// stands there already is used as it is.
func buildIn(ctx context.Context, dir string, conns int, log io.Writer) (*house, error) {
	pg, err := pglocal.Start(ctx, pglocal.Config{Dir: dir, Settings: map[string]string{"max_wal_size": "8GB", "checkpoint_timeout": "30min", "max_connections": "100"}})
	if err != nil {
		return nil, err
	}
	h := &house{pg: pg, log: log}
	if dir != "" {
		h.key = filepath.Clean(dir) + ".key"
	}
	if err := h.furnish(ctx, conns); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *house) furnish(ctx context.Context, conns int) error {
	for k, v := range map[string]string{"BENCH_URL": "http://127.0.0.1:9", "BENCH_TOKEN": "bench"} {
		if os.Getenv(k) == "" {
			_ = os.Setenv(k, v)
		}
	}
	if err := store.Migrate(ctx, h.pg.OwnerURL(""), "holdpoint_app"); err != nil {
		return err
	}
	secret, err := h.secret()
	if err != nil {
		return err
	}
	h.st, err = store.Open(ctx, store.Config{URL: h.pg.AppURL(""), Secret: secret, MaxConns: conns, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if who, err := h.st.FindUserByEmail(ctx, "approver@bench.test"); err == nil {
		h.approver = who.Actor("web")
		return nil
	}
	sys := store.System("command")
	for _, u := range []store.NewUser{
		{Email: "approver@bench.test", Name: "Approver", Roles: []store.RoleGrant{{Role: operation.RoleApprover}}},
		{Email: "ops@bench.test", Name: "Ops", Roles: []store.RoleGrant{{Role: operation.RoleOpsOwner}}},
		{Email: "ops2@bench.test", Name: "Ops 2", Roles: []store.RoleGrant{{Role: operation.RoleOpsOwner}}},
	} {
		if _, err := h.st.AddUser(ctx, sys, u); err != nil {
			return err
		}
	}
	who, err := h.st.FindUserByEmail(ctx, "approver@bench.test")
	if err != nil {
		return err
	}
	h.approver = who.Actor("web")
	var files []store.File
	for _, n := range []string{"source.yaml", "profile.yaml", "flow.yaml", "list.yaml"} {
		src, err := definitions.ReadFile(n)
		if err != nil {
			return err
		}
		files = append(files, store.File{Name: n, Source: src})
	}
	_, err = h.st.Apply(ctx, sys, files)
	return err
}

// secret gives the installation's secret, kept beside a folder that stays.
func (h *house) secret() ([]byte, error) {
	if h.key != "" {
		if b, err := os.ReadFile(h.key); err == nil {
			return b, nil
		}
	}
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	if h.key == "" {
		return b, nil
	}
	return b, os.WriteFile(h.key, b, 0o600)
}

func (h *house) close() {
	if h.st != nil {
		_ = h.st.Close()
	}
	_ = h.pg.Stop(context.Background())
}

// pgbench gives the path of pgbench beside the server's binaries.
func (h *house) pgbench() (string, error) {
	p := filepath.Join(h.pg.BinDir(), "pgbench")
	if _, err := os.Stat(p); err != nil {
		return "", fmt.Errorf("pgbench is not beside the server's programs (Debian: apt-get install postgresql): %w", err)
	}
	return p, nil
}
