package storetest

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"net/url"
	"testing"
	"time"

	"holdpoint/migrations"

	"github.com/pressly/goose/v3"
)

// released holds what databases of earlier schemas held: testdata/schema-N.sql, written
// by pg_dump while version N was the newest.
//
//go:embed testdata/schema-*.sql
var released embed.FS

// ReleasedVersions are the schemas that NewReleased can make.
var ReleasedVersions = []int64{7}

// NewReleased makes a database as an earlier version of the schema left it, with the
// rows of its time: one operation in every state. Its secret is Secret.
func NewReleased(t testing.TB, version int64) (ownerURL, appURL string) {
	t.Helper()
	setEnvironment()
	srv := connect(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	ownerURL, appURL = srv.copyOf(ctx, t, "template0")
	if err := fillReleased(ctx, srv, ownerURL, version); err != nil {
		t.Fatalf("storetest: schema %d: %v", version, err)
	}
	return ownerURL, appURL
}

func fillReleased(ctx context.Context, srv *server, ownerURL string, version int64) error {
	at, err := url.Parse(ownerURL)
	if err != nil {
		return err
	}
	owner, err := sql.Open("postgres", ownerURL)
	if err != nil {
		return err
	}
	defer owner.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, owner, migrations.FS)
	if err != nil {
		return err
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return err
	}
	rows, err := released.ReadFile(fmt.Sprintf("testdata/schema-%d.sql", version))
	if err != nil {
		return err
	}
	u := *srv.url
	u.Path = at.Path
	admin, err := sql.Open("postgres", u.String())
	if err != nil {
		return err
	}
	defer admin.Close()
	// As a restore does: keys that point at each other are not checked row by row.
	_, err = admin.ExecContext(ctx, "SET session_replication_role = replica;\n"+string(rows))
	return err
}
