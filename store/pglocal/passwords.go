package pglocal

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// superuser is the name of the cluster's first role.
const superuser = "postgres"

// passwords of the three roles, made at random once per folder.
type passwords struct {
	Admin string `json:"admin"`
	Owner string `json:"owner"`
	App   string `json:"app"`
}

// loadPasswords reads the folder's passwords or makes them when there is no
// cluster yet.
func loadPasswords(l layout) (passwords, error) {
	var p passwords
	b, err := os.ReadFile(l.passwords())
	if err == nil {
		if err := json.Unmarshal(b, &p); err != nil {
			return p, fmt.Errorf("read %s: %w", l.passwords(), err)
		}
		return p, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("read the database passwords: %w", err)
	}
	if _, err := os.Stat(l.data()); err == nil {
		return p, fmt.Errorf("%s is missing although the database beside it exists: restore that file", l.passwords())
	}
	p = passwords{Admin: rand.Text(), Owner: rand.Text(), App: rand.Text()}
	if b, err = json.Marshal(p); err != nil {
		return p, err
	}
	return p, writeSecret(l.passwords(), append(b, '\n'))
}

// writeSecret writes a file that only its owner can read, whole or not at all.
func writeSecret(path string, content []byte) error {
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}
