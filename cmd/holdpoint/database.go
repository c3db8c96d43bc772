package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"holdpoint/store"
	"holdpoint/store/pglocal"
)

// database is where the record is.
type database struct {
	owner, app string          // addresses of the two roles; owner "" = not known here
	server     *pglocal.Server // the private PostgreSQL, when this process runs it
	note       string          // the file that tells other commands where it runs
}

// privateNote is the file in the data folder through which other commands find the
// private PostgreSQL while serve runs it. It holds passwords: mode 0600.
const privateNote = "database.json"

type note struct {
	Owner string `json:"owner"`
	App   string `json:"app"`
}

// startDatabase gives the database that serve uses: the one of DATABASE_URL, or a
// private PostgreSQL, started here.
func (s *Settings) startDatabase(ctx context.Context) (*database, error) {
	if s.DatabaseURL != "" {
		return &database{owner: s.MigrateURL, app: s.DatabaseURL}, nil
	}
	dir, err := pglocal.DefaultDir(s.Data)
	if err != nil {
		return nil, err
	}
	server, err := pglocal.Start(ctx, pglocal.Config{Dir: dir, Port: s.DatabasePort})
	if err != nil {
		return nil, err
	}
	d := &database{owner: server.OwnerURL(""), app: server.AppURL(""), server: server, note: filepath.Join(s.Data, privateNote)}
	if err := d.writeNote(); err != nil {
		d.stop(slog.Default())
		return nil, err
	}
	return d, nil
}

// findDatabase gives the database for the other commands.
func (s *Settings) findDatabase() (*database, error) {
	if s.DatabaseURL != "" {
		return &database{owner: s.MigrateURL, app: s.DatabaseURL}, nil
	}
	raw, err := os.ReadFile(filepath.Join(s.Data, privateNote))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no database: set DATABASE_URL, or start holdpoint serve with the same data folder (%s) first", s.Data)
	}
	if err != nil {
		return nil, err
	}
	var n note
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("%s: %w", privateNote, err)
	}
	return &database{owner: n.Owner, app: n.App}, nil
}

func (d *database) writeNote() error {
	raw, err := json.Marshal(note{d.owner, d.app})
	if err != nil {
		return err
	}
	if err := os.Remove(d.note); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(d.note, append(raw, '\n'), 0o600)
}

// private reports that this process runs the database.
func (d *database) private() bool { return d.server != nil }

// ended is closed when the private PostgreSQL has ended; nil blocks for ever.
func (d *database) ended() <-chan struct{} {
	if d.server == nil {
		return nil
	}
	return d.server.Done()
}

// stop ends the private PostgreSQL, after everything that uses it.
func (d *database) stop(log *slog.Logger) {
	if d.server == nil {
		return
	}
	_ = os.Remove(d.note)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := d.server.Stop(ctx); err != nil {
		log.Error("private PostgreSQL did not stop in order", "error", err)
	}
}

// roleOf gives the role in an address.
func roleOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	return u.User.Username()
}

// migrate brings the schema up to date as the owner and gives the application its rights.
func (d *database) migrate(ctx context.Context) error {
	app := roleOf(d.app)
	if app == roleOf(d.owner) {
		app = "" // one role for both: there is nothing to give
	}
	return store.Migrate(ctx, d.owner, app)
}

// open opens the store.
func (s *Settings) open(ctx context.Context, db *database, key []byte, log *slog.Logger) (*store.Store, error) {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return nil, fmt.Errorf("HOLDPOINT_ZONE: %w", err)
	}
	st, err := store.Open(ctx, store.Config{URL: db.app, Secret: key, MaxConns: s.MaxConns, ConfirmAfter: s.ConfirmAfter, Zone: zone, Log: log})
	if err != nil {
		return nil, err
	}
	if owns, err := st.OwnsRecord(ctx); err == nil && owns {
		log.Warn("one database role is both owner and application: only triggers guard the history. Give DATABASE_URL a role of its own (docs/operations.md)")
	}
	return st, nil
}

// record opens the store for a short command.
func (s *Settings) record(ctx context.Context) (*store.Store, error) {
	log, err := s.logger(slog.LevelWarn)
	if err != nil {
		return nil, err
	}
	if err := s.folder(); err != nil {
		return nil, err
	}
	db, err := s.findDatabase()
	if err != nil {
		return nil, err
	}
	key, err := s.key(ctx, db)
	if err != nil {
		return nil, err
	}
	st, err := s.open(ctx, db, key, log)
	if err != nil && s.DatabaseURL == "" && !errors.Is(err, store.ErrSchema) {
		return nil, fmt.Errorf("the private database cannot be used; does holdpoint serve run with this data folder? %w", err)
	}
	return st, err
}
