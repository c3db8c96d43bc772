package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// File is a definition file to be applied.
type File struct {
	Name   string // as problems name it
	Source []byte
}

// The kinds of definition.
const (
	KindFlow        = "flow"
	KindDestination = "destination"
	KindSource      = "source"
)

// Applied says what became of one file.
type Applied struct {
	Kind, Name string
	File       string
	Version    int
	Unchanged  bool // the current version has these very bytes
}

// Apply takes definition files into use, all of them in one transaction or none. A
// file with the bytes of the current version makes no new one. Refused, with file and
// field, as definition.Problems: what does not parse; a flow that names a destination,
// action, source or earlier stage that is not there; a policy that the people there
// are can never satisfy. Operations that run keep the versions they began with.
func (s *Store) Apply(ctx context.Context, a Actor, files []File) ([]Applied, error) {
	set, err := parseFiles(files)
	if err != nil {
		return nil, err
	}
	var out []Applied
	err = s.write(ctx, func(t *tx) error {
		now, err := t.alone()
		if err != nil {
			return err
		}
		if err := t.mayAdmin(a); err != nil {
			return err
		}
		c := &checking{tx: t, set: set}
		if err := c.check(); err != nil {
			return err
		}
		out = nil
		changed := false
		for _, d := range set.all {
			done, err := t.apply(a, now, d)
			if err != nil {
				return err
			}
			changed = changed || !done.Unchanged
			out = append(out, done)
		}
		if !changed {
			return errDone
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// fileSet is what the files of one call define.
type fileSet struct {
	all      []*defined // destinations, then sources, then flows
	flows    map[string]*defined
	profiles map[string]*defined
	sources  map[string]*defined
}

type defined struct {
	kind, name string
	file       File
	flow       *definition.Flow
	profile    *definition.Profile
	source     *definition.Source
}

func parseFiles(files []File) (fileSet, error) {
	set := fileSet{flows: map[string]*defined{}, profiles: map[string]*defined{}, sources: map[string]*defined{}}
	var problems definition.Problems
	for _, f := range files {
		d, err := parseFile(f)
		if err != nil {
			var ps definition.Problems
			if !errors.As(err, &ps) {
				return set, err
			}
			problems = append(problems, ps...)
			continue
		}
		in := set.flows
		switch d.kind {
		case KindDestination:
			problems = append(problems, d.profile.CheckPlace(os.LookupEnv)...)
			in = set.profiles
		case KindSource:
			in = set.sources
		}
		if other := in[d.name]; other != nil {
			problems = append(problems, definition.Problem{File: f.Name, Field: d.kind, Text: d.kind + " " + d.name + " is also defined in " + other.file.Name})
			continue
		}
		in[d.name] = d
		set.all = append(set.all, d)
	}
	if len(problems) > 0 {
		return set, problems
	}
	order := []string{KindDestination, KindSource, KindFlow}
	slices.SortStableFunc(set.all, func(x, y *defined) int {
		return slices.Index(order, x.kind) - slices.Index(order, y.kind)
	})
	return set, nil
}

// parseFile reads a file as what its first key at the margin says it is.
func parseFile(f File) (*defined, error) {
	d := &defined{kind: kindOf(f.Source), file: f}
	var err error
	switch d.kind {
	case KindFlow:
		if d.flow, err = definition.ParseFlow(f.Name, f.Source); err == nil {
			d.name = d.flow.Name
		}
	case KindDestination:
		if d.profile, err = definition.ParseProfile(f.Name, f.Source); err == nil {
			d.name = d.profile.Destination
		}
	case KindSource:
		if d.source, err = definition.ParseSource(f.Name, f.Source); err == nil {
			d.name = d.source.Name
		}
	default:
		err = definition.Problems{{File: f.Name, Text: "it must begin with flow:, destination: or source:"}}
	}
	return d, err
}

func kindOf(src []byte) string {
	for line := range bytes.Lines(definition.StripBOM(src)) {
		key, _, ok := strings.Cut(string(line), ":")
		if ok && slices.Contains([]string{KindFlow, KindDestination, KindSource}, strings.TrimSpace(key)) && !strings.HasPrefix(key, " ") {
			return strings.TrimSpace(key)
		}
	}
	return ""
}

// apply writes a new version where the bytes differ from the current one's.
func (t *tx) apply(a Actor, now time.Time, d *defined) (Applied, error) {
	sum := sha256.Sum256(d.file.Source)
	out := Applied{Kind: d.kind, Name: d.name, File: d.file.Name}
	q := applySQL[d.kind]
	var have struct {
		Version int    `db:"version"`
		Hash    []byte `db:"hash"`
	}
	err := t.get(&have, q.current, d.name)
	if err != nil && !isGone(err) {
		return out, err
	}
	if bytes.Equal(have.Hash, sum[:]) {
		out.Version, out.Unchanged = have.Version, true
		return out, nil
	}
	out.Version = have.Version + 1
	args := []any{d.name, out.Version}
	if d.kind == KindDestination {
		args = append(args, d.profile.Account, d.profile.Environment)
	}
	if d.kind == KindSource {
		args = append(args, sum[:], string(d.file.Source), a.ID, now)
	}
	if err := t.one(q.head, args...); err != nil {
		return out, err
	}
	subject, id, links := operation.SubjectSystem, systemSubject, []string{"source", d.name}
	if q.version != "" {
		if err := t.one(q.version, d.name, out.Version, sum[:], string(d.file.Source), a.ID, now); err != nil {
			return out, err
		}
		subject, id, links = operation.SubjectKind(d.kind), d.name, nil
	}
	links = append(links, "version", strconv.Itoa(out.Version), "hash", hexOf(sum[:]), "file", d.file.Name)
	return out, t.enter(a, now, subject, id, "apply", "", links...)
}

var applySQL = map[string]struct{ current, head, version string }{
	KindFlow: {
		`SELECT f.version, v.hash FROM flows f JOIN flow_versions v ON v.flow = f.name AND v.version = f.version WHERE f.name = $1 FOR UPDATE OF f`,
		`INSERT INTO flows (name, version) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version`,
		`INSERT INTO flow_versions (flow, version, hash, source, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)`},
	KindDestination: {
		`SELECT d.version, v.hash FROM destinations d JOIN destination_versions v ON v.destination = d.name AND v.version = d.version WHERE d.name = $1 FOR UPDATE OF d`,
		`INSERT INTO destinations (name, version, account, environment) VALUES ($1, $2, $3, $4)
			ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version, account = EXCLUDED.account, environment = EXCLUDED.environment`,
		`INSERT INTO destination_versions (destination, version, hash, source, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)`},
	KindSource: {
		`SELECT version, hash FROM sources WHERE name = $1 FOR UPDATE`,
		`INSERT INTO sources (name, version, hash, source, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (name) DO UPDATE SET version = EXCLUDED.version, hash = EXCLUDED.hash, source = EXCLUDED.source, created_by = EXCLUDED.created_by, created_at = EXCLUDED.created_at`, ""},
}
