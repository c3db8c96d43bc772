package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"holdpoint/store"
)

// key reads the installation's secret. When the key file is missing and the database
// holds no installation yet, a new one is made in the data folder. A key file that got
// lost is never replaced: every operation would get another ID.
func (s *Settings) key(ctx context.Context, db *database) ([]byte, error) {
	path := s.keyPath()
	raw, err := os.ReadFile(path)
	if err == nil {
		return decodeKey(path, raw)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if s.KeyFile != "" {
		return nil, fmt.Errorf("key file %s is missing. Restore it; for a new installation make it: openssl rand -base64 32 > %s", path, path)
	}
	installed, err := store.IsInstalled(ctx, db.app)
	if err != nil {
		return nil, err
	}
	if installed {
		return nil, fmt.Errorf("key file %s is missing, but the database holds an installation that belongs to it. Restore the key file", path)
	}
	return makeKey(path)
}

func makeKey(path string) ([]byte, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the key file: %w", err)
	}
	_, err = fmt.Fprintln(f, base64.StdEncoding.EncodeToString(key))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(path)
		return nil, fmt.Errorf("make the key file: %w", err)
	}
	return key, nil
}

func decodeKey(path string, raw []byte) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("key file %s can be read by everybody: chmod o-rwx %s", path, path)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(raw)))
	if err != nil || len(key) < 32 {
		return nil, fmt.Errorf("key file %s is not one line of base64 with 32 bytes or more", path)
	}
	return key, nil
}
