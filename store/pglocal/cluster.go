package pglocal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// initCluster creates the database cluster when the folder has none. An
// interrupted creation leaves nothing that a later start would take for one.
func (s *Server) initCluster(ctx context.Context) error {
	if _, err := os.Stat(s.layout.data()); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := s.layout.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove an unfinished cluster: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	if err := s.account.give(fresh); err != nil {
		return err
	}
	passwordFile := filepath.Join(s.layout.socket, "password")
	if err := writeSecret(passwordFile, []byte(s.passwords.Admin+"\n")); err != nil {
		return err
	}
	defer os.Remove(passwordFile)
	if err := s.account.give(passwordFile); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + fresh, "--username=" + superuser, "--pwfile=" + passwordFile,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8",
	}
	if s.cfg.Volatile {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), args...)
	cmd.Dir = fresh
	cmd.Env = serverEnv(s.bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account.credential()}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("create the database cluster: %w\n%s", err, out)
	}
	return os.Rename(fresh, s.layout.data())
}

// serverEnv is the whole environment of PostgreSQL's programs: nothing of ours
// leaks in, and messages come in English.
func serverEnv(bin string) []string {
	return []string{"PATH=" + bin + ":/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// serverArgs turns the settings into arguments; later ones win.
func (s *Server) serverArgs(port int) []string {
	args := []string{"-D", s.layout.data()}
	set := func(name, value string) { args = append(args, "-c", name+"="+value) }
	set("listen_addresses", "127.0.0.1")
	set("port", fmt.Sprint(port))
	set("unix_socket_directories", s.layout.socket)
	set("unix_socket_permissions", "0700")
	set("timezone", "UTC")
	set("log_timezone", "UTC")
	// Statements and key values may hold personal data: keep them out of the log.
	set("log_error_verbosity", "terse")
	set("log_min_error_statement", "panic")
	if s.cfg.Volatile {
		set("fsync", "off")
		set("synchronous_commit", "off")
		set("full_page_writes", "off")
		set("wal_level", "minimal")
		set("max_wal_senders", "0")
		set("max_connections", "300")
		set("max_wal_size", "256MB") // fewer new files, and less memory when they lie there
		set("jit", "off")            // as in every session of the program
		set("autovacuum_naptime", "10min")
	}
	for name, value := range s.cfg.Settings {
		set(name, value)
	}
	return args
}
