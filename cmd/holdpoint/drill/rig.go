package drill

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/pglocal"
)

//go:embed definitions/*.yaml
var definitions embed.FS

// rig is everything that runs during a drill.
type rig struct {
	opts    Options
	dir     string // key file and what was built; removed at the end
	pg      *pglocal.Server
	store   *store.Store
	box     *box
	servers []server
	workers []*child
	log     *lockedWriter
	token   string
	people  map[string]store.Actor
	serial  int
}

// server is a running `holdpoint serve`.
type server struct {
	*child
	url string
}

// start brings up PostgreSQL, schema, people, definitions, sandbox, server and two workers.
func start(ctx context.Context, o Options) (_ *rig, err error) {
	r, err := raise(ctx, o)
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, d := range []string{"billing", "mail"} {
		if err = r.box.retention(ctx, d, "3s"); err != nil {
			return nil, err
		}
	}
	if err = r.furnish(ctx); err != nil {
		return nil, err
	}
	if err = r.serve(ctx); err != nil {
		return nil, err
	}
	return r, r.work(2)
}

// raise brings up PostgreSQL and the sandbox. What it gives must be closed, also with an error.
func raise(ctx context.Context, o Options) (r *rig, err error) {
	r = &rig{people: map[string]store.Actor{}}
	if r.dir, err = os.MkdirTemp("", "holdpoint-drill-"); err != nil {
		return r, err
	}
	if r.opts, err = o.withDefaults(ctx, r.dir); err != nil {
		return r, err
	}
	r.log = &lockedWriter{w: r.opts.Log}
	// Nothing has to survive the machine. What was committed must survive the killing of
	// PostgreSQL: so a commit waits until its record has left the process.
	if r.pg, err = pglocal.Start(ctx, pglocal.Config{Volatile: true, Settings: map[string]string{"synchronous_commit": "on"}}); err != nil {
		return r, err
	}
	r.box, err = startBox(ctx, r.opts.Sandbox, r.log)
	return r, err
}

// migrate makes schema and key, and opens the record.
func (r *rig) migrate(ctx context.Context) error {
	if err := store.Migrate(ctx, r.pg.OwnerURL(""), "holdpoint_app"); err != nil {
		return err
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	if err := os.WriteFile(r.keyFile(), []byte(base64.StdEncoding.EncodeToString(key)+"\n"), 0o600); err != nil {
		return err
	}
	var err error
	r.store, err = store.Open(ctx, store.Config{URL: r.pg.AppURL(""), Secret: key, Log: slog.New(slog.NewTextHandler(r.log, nil))})
	return err
}

// furnish makes the record: schema, key, people, a token, the drill's definitions.
func (r *rig) furnish(ctx context.Context) error {
	if err := r.migrate(ctx); err != nil {
		return err
	}
	command := store.System("command")
	for _, p := range []struct {
		short, name string
		role        operation.Role
	}{{"lead", "Lea Lead", operation.RoleApprover}, {"ops", "Oli Ops", operation.RoleOpsOwner}, {"ops2", "Ona Ops", operation.RoleOpsOwner}, {"author", "Ann Author", operation.RoleAuthor}} {
		link, err := r.store.AddUser(ctx, command, store.NewUser{Email: p.short + "@drill.test", Name: p.name, Roles: []store.RoleGrant{{Role: p.role}}})
		if err != nil {
			return fmt.Errorf("add %s: %w", p.name, err)
		}
		r.people[p.short] = store.Person(link.User, p.name, "command")
	}
	files, err := definitionFiles()
	if err != nil {
		return err
	}
	if _, err := r.store.Apply(ctx, command, files); err != nil {
		return fmt.Errorf("apply the drill's definitions: %w", err)
	}
	_, r.token, err = r.store.AddToken(ctx, command, store.NewToken{Name: "drill", Scopes: []string{store.ScopeEvents, store.ScopeClaims, store.ScopeRead}})
	return err
}

func definitionFiles() ([]store.File, error) {
	names, err := fs.Glob(definitions, "definitions/*.yaml")
	if err != nil {
		return nil, err
	}
	var files []store.File
	for _, n := range names {
		src, err := definitions.ReadFile(n)
		if err != nil {
			return nil, err
		}
		files = append(files, store.File{Name: filepath.Base(n), Source: src})
	}
	return files, nil
}

func (r *rig) keyFile() string { return filepath.Join(r.dir, "key") }

// environment is what a process of ours gets: nothing of this installation's settings
// that may stand around.
func (r *rig) environment(more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "HOLDPOINT_") || strings.HasPrefix(name, "SANDBOX_") || name == "DATABASE_URL" {
			continue
		}
		env = append(env, kv)
	}
	return append(append(env, "DATABASE_URL="+r.pg.AppURL(""), "HOLDPOINT_MIGRATE_URL="+r.pg.OwnerURL(""), "HOLDPOINT_KEY_FILE="+r.keyFile(), "HOLDPOINT_DATA="+r.dir,
		"HOLDPOINT_METRICS_ADDR=off", "HOLDPOINT_SWEEP=200ms", "HOLDPOINT_POLL=500ms", "HOLDPOINT_STOP_TIMEOUT=2s",
		"SANDBOX_URL="+r.box.url, "SANDBOX_TOKEN=drill"), more...)
}

// serve starts one more server process and waits until it is ready.
func (r *rig) serve(ctx context.Context) error {
	address, err := freeAddress()
	if err != nil {
		return err
	}
	c, err := startChild("server", r.environment("HOLDPOINT_ADDR="+address, "HOLDPOINT_PUBLIC_URL=http://"+address), r.log, nil, r.opts.Binary, "serve", "--no-jobs")
	if err != nil {
		return err
	}
	s := server{c, "http://" + address}
	r.servers = append(r.servers, s)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-c.done:
			return fmt.Errorf("the server ended at its start: %w", c.err)
		default:
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("the server is not ready: %w", err)
		}
	}
}

// freeAddress finds a port on which nobody listens now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// work starts worker processes.
func (r *rig) work(n int) error {
	for range n {
		c, err := startChild("worker", r.environment("HOLDPOINT_WORKER=drill"), r.log, nil, r.opts.Binary, "work")
		if err != nil {
			return err
		}
		r.workers = append(r.workers, c)
	}
	return nil
}

// killWorkers ends every worker with SIGKILL.
func (r *rig) killWorkers() {
	for _, w := range r.workers {
		w.kill()
	}
	r.workers = nil
}

// workerOf finds the process that holds an attempt: its number is in the worker's name.
func (r *rig) workerOf(name string) (*child, bool) {
	for _, w := range r.workers {
		if strings.Contains(name, fmt.Sprintf("-%d-", w.pid)) {
			return w, true
		}
	}
	return nil, false
}

// whole reports processes that ended although nobody ended them.
func (r *rig) whole() error {
	all := append([]*child{r.box.child}, r.workers...)
	for _, s := range r.servers {
		all = append(all, s.child)
	}
	for _, c := range all {
		select {
		case <-c.done:
			return fmt.Errorf("the %s (process %d) has ended: %w", c.name, c.pid, c.err)
		default:
		}
	}
	return nil
}

// close ends every process and removes every file. It may be called on half a rig, and
// on none.
func (r *rig) close() {
	if r == nil {
		return
	}
	var all sync.WaitGroup
	for _, w := range r.workers {
		all.Go(func() { w.stop(4 * time.Second) })
	}
	for _, s := range r.servers {
		all.Go(func() { s.stop(4 * time.Second) })
	}
	all.Wait()
	if r.box != nil {
		r.box.kill()
	}
	if r.store != nil {
		_ = r.store.Close()
	}
	if r.pg != nil {
		_ = r.pg.Stop(context.Background())
	}
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}

// lockedWriter lets several processes write to one log.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes one piece whole.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
