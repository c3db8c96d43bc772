package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"

	"holdpoint/migrations"
	"holdpoint/store"
)

// schema is what a template holds. The key names its content: the same key is
// prepared once per server, whoever asks first.
type schema struct {
	key     string
	migrate func(ctx context.Context, ownerURL string) error
}

// currentSchema is the product's own.
var currentSchema = sync.OnceValue(func() schema {
	return schema{key: migrationsKey(), migrate: func(ctx context.Context, ownerURL string) error {
		return store.Migrate(ctx, ownerURL, appRole)
	}}
})

// migrationsKey hashes every migration file and the version of the job engine,
// which brings tables of its own. It does not see the Go code that grants the
// application's rights: drop the hp_template_ databases of a server that outlives
// one `make test` after changing that.
func migrationsKey() string {
	h := sha256.New()
	err := fs.WalkDir(migrations.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(migrations.FS, path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(content), content)
		return err
	})
	if err != nil {
		panic(err) // an embedded file system cannot fail
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if strings.HasPrefix(dep.Path, "github.com/riverqueue/") {
				fmt.Fprintln(h, dep.Path, dep.Version)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// prepared holds, per template, this process's one preparation of it.
var prepared sync.Map // name → func() error

// template returns the name of a database that holds the schema and that
// nobody can enter: PostgreSQL copies only databases without sessions. Each month has
// its own: partitions are made for the months after the one a template is made in.
func (s *server) template(ctx context.Context, want schema) (string, error) {
	name := "hp_template_" + want.key + time.Now().UTC().Format("_2006_01")
	once, _ := prepared.LoadOrStore(name, sync.OnceValue(func() error {
		return s.locked(ctx, func(ctx context.Context) error { return s.prepare(ctx, name, want) })
	}))
	return name, once.(func() error)()
}

func (s *server) prepare(ctx context.Context, name string, want schema) error {
	var exists bool
	err := s.admin.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	// Built under another name, so that an interrupted build is never taken for
	// a template.
	building := name + "_new"
	if _, err := s.admin.ExecContext(ctx, `DROP DATABASE IF EXISTS `+building+` WITH (FORCE)`); err != nil {
		return err
	}
	if _, err := s.admin.ExecContext(ctx, `CREATE DATABASE `+building+` OWNER `+ownerRole); err != nil {
		return err
	}
	if err := want.migrate(ctx, s.address(ownerRole, building)); err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	if _, err := s.admin.ExecContext(ctx, `ALTER DATABASE `+building+` ALLOW_CONNECTIONS false`); err != nil {
		return err
	}
	return s.rename(ctx, building, name)
}

// rename waits for the sessions of the migration to be gone.
func (s *server) rename(ctx context.Context, from, to string) error {
	for {
		_, err := s.admin.ExecContext(ctx, `ALTER DATABASE `+from+` RENAME TO `+to)
		var pqErr *pq.Error
		if !errors.As(err, &pqErr) || pqErr.Code != "55006" { // object_in_use
			return err
		}
		_, err = s.admin.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, from)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
