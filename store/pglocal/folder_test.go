package pglocal

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestFolders(t *testing.T) {
	t.Parallel()
	t.Run("LongPathsGetAShortSocketFolder", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(folder(t), strings.Repeat("long", 25), "pg")
		if os.Geteuid() == 0 {
			if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := start(t, Config{Dir: dir, Volatile: true})
		if !socketFits(s.SocketDir()) {
			t.Errorf("socket folder %s is too long", s.SocketDir())
		}
		outside := s.SocketDir()
		if err := s.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(outside); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket folder is still there: %v", err)
		}
	})
	t.Run("AFixedPortThatIsTakenIsNamed", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		_, err = Start(context.Background(), Config{Port: port, Volatile: true})
		if !errors.Is(err, ErrPortTaken) || !strings.Contains(err.Error(), strconv.Itoa(port)) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("AnInterruptedFirstStartIsRepeated", func(t *testing.T) {
		t.Parallel()
		dir := folder(t)
		if err := os.MkdirAll(filepath.Join(dir, "data.new", "base"), 0o755); err != nil {
			t.Fatal(err)
		}
		start(t, Config{Dir: dir, Volatile: true})
	})
	t.Run("LostPasswordsAreNamed", func(t *testing.T) {
		t.Parallel()
		dir := folder(t)
		s := start(t, Config{Dir: dir, Volatile: true})
		s.Stop(context.Background())
		if err := os.Remove(s.layout.passwords()); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(context.Background(), Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "passwords is missing") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("RemoveKeepsForeignFolders", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		precious := filepath.Join(dir, "precious")
		if err := os.WriteFile(precious, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Remove(dir); err == nil {
			t.Error("Remove accepted a foreign folder")
		}
		if _, err := os.Stat(precious); err != nil {
			t.Error(err)
		}
	})
	t.Run("RemoveDeletesAStoppedServersFolder", func(t *testing.T) {
		t.Parallel()
		dir := folder(t)
		start(t, Config{Dir: dir, Volatile: true}).Stop(context.Background())
		if err := Remove(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is still there: %v", err)
		}
	})
}

func TestDefaultDir(t *testing.T) {
	a, err := DefaultDir("one")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := DefaultDir("two")
	if a == b || !filepath.IsAbs(a) {
		t.Errorf("DefaultDir: %q, %q", a, b)
	}
}

func TestCandidatesNewestFirst(t *testing.T) {
	if dirMajor("/usr/lib/postgresql/9/bin") >= dirMajor("/usr/lib/postgresql/15/bin") {
		t.Error("version 9 sorts before 15")
	}
	bin, err := FindBinaries()
	if err != nil {
		t.Fatalf("these tests need PostgreSQL: %v", err)
	}
	if serverMajor(bin) < minMajor {
		t.Errorf("%s has version %d", bin, serverMajor(bin))
	}
}
