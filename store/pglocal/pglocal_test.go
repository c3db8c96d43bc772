package pglocal

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The helpers below run this test binary again, as a launcher that can be
// killed or as another user.
const (
	helperEnv = "PGLOCAL_TEST_LAUNCH" // start a server in this folder and wait
	userEnv   = "PGLOCAL_TEST_AS_USER"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(helperEnv); dir != "" {
		launchAndWait(dir)
		return
	}
	os.Exit(m.Run())
}

func launchAndWait(dir string) {
	s, err := Start(context.Background(), Config{Dir: dir, Volatile: true})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready", s.OwnerURL(""))
	select {}
}

// folder is a fresh folder that the server's account can enter, also as root.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pglocal-test-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "pg")
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })
	return s
}

// query runs one statement on a connection of its own.
func query(t *testing.T, url, statement string) (string, error) {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var out sql.NullString
	err = db.QueryRow(statement).Scan(&out)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return out.String, err
}

func must(t *testing.T, url, statement string) string {
	t.Helper()
	out, err := query(t, url, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return out
}

func TestStart(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Dir: folder(t), Settings: map[string]string{"work_mem": "7MB"}})

	t.Run("IsDurableByDefault", func(t *testing.T) {
		for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			if got := must(t, s.AdminURL(), "SHOW "+name); got != "on" {
				t.Errorf("%s = %q", name, got)
			}
		}
	})
	t.Run("TakesSettings", func(t *testing.T) {
		if got := must(t, s.AdminURL(), "SHOW work_mem"); got != "7MB" {
			t.Errorf("work_mem = %q", got)
		}
	})
	t.Run("ListensOnLoopbackOnly", func(t *testing.T) {
		if got := must(t, s.AdminURL(), "SHOW listen_addresses"); got != "127.0.0.1" {
			t.Errorf("listen_addresses = %q", got)
		}
	})
	t.Run("MakesTheDatabaseAndBothRoles", func(t *testing.T) {
		must(t, s.OwnerURL(""), "CREATE TABLE thing (id int)")
		if got := must(t, s.AppURL(""), "SELECT current_user"); got != "holdpoint_app" {
			t.Errorf("current_user = %q", got)
		}
		if _, err := query(t, s.AppURL(""), "CREATE TABLE mine (id int)"); err == nil {
			t.Error("the application role may create tables")
		}
		if _, err := query(t, s.AppURL(""), "SELECT id FROM thing"); err == nil {
			t.Error("the application role may read a table it was not granted")
		}
	})
	t.Run("RefusesAWrongPassword", func(t *testing.T) {
		wrong := connectionURL("holdpoint_app", "guess", s.Port(), "holdpoint")
		if _, err := query(t, wrong, "SELECT 1"); err == nil {
			t.Error("a wrong password was accepted")
		}
	})
	t.Run("KeepsPasswordsPrivate", func(t *testing.T) {
		info, err := os.Stat(s.layout.passwords())
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("mode = %v", info.Mode())
		}
	})
	t.Run("AnswersOnTheSocket", func(t *testing.T) {
		url := fmt.Sprintf("host=%s port=%d user=postgres password=%s dbname=postgres sslmode=disable",
			s.SocketDir(), s.Port(), s.passwords.Admin)
		if got := must(t, url, "SELECT 1"); got != "1" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("RefusesASecondStart", func(t *testing.T) {
		_, err := Start(context.Background(), Config{Dir: s.Dir()})
		if !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("RemoveRefusesWhileRunning", func(t *testing.T) {
		if err := Remove(s.Dir()); !errors.Is(err, ErrRunning) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("TellsARunningServersURL", func(t *testing.T) {
		url, err := RunningAdminURL(s.Dir(), "holdpoint")
		if err != nil {
			t.Fatal(err)
		}
		if got := must(t, url, "SELECT current_database()"); got != "holdpoint" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("KeepsStatementsOutOfTheLog", func(t *testing.T) {
		must(t, s.OwnerURL(""), "CREATE TABLE person (mail text CONSTRAINT one_mail UNIQUE)")
		must(t, s.OwnerURL(""), "INSERT INTO person VALUES ('ann@example.test')")
		if _, err := query(t, s.OwnerURL(""), "INSERT INTO person VALUES ('ann@example.test')"); err == nil {
			t.Fatal("the constraint did not hold")
		}
		log, err := os.ReadFile(s.layout.log())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(log, []byte("one_mail")) || bytes.Contains(log, []byte("ann@example.test")) {
			t.Errorf("log:\n%s", log)
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("KeepsDataForTheNextStart", func(t *testing.T) {
		t.Parallel()
		dir := folder(t)
		s := start(t, Config{Dir: dir})
		must(t, s.OwnerURL(""), "CREATE TABLE kept AS SELECT 42 AS n")
		if err := s.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		s = start(t, Config{Dir: dir})
		t.Logf("start to ready with an existing cluster: %v", time.Since(begin))
		if got := must(t, s.OwnerURL(""), "SELECT n FROM kept"); got != "42" {
			t.Errorf("n = %q", got)
		}
	})
	t.Run("RemovesAThrowAwayFolder", func(t *testing.T) {
		t.Parallel()
		s := start(t, Config{Volatile: true})
		if got := must(t, s.AdminURL(), "SHOW fsync"); got != "off" {
			t.Errorf("fsync = %q", got)
		}
		if err := s.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is still there: %v", err)
		}
		if err := s.Stop(context.Background()); err != nil {
			t.Errorf("a second Stop: %v", err)
		}
	})
	t.Run("EndsOpenConnectionsInTime", func(t *testing.T) {
		t.Parallel()
		s := start(t, Config{Volatile: true})
		db, err := sql.Open("postgres", s.AdminURL())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		if err := s.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); err == nil {
			t.Error("the transaction outlived the server")
		}
	})
}

func TestKill(t *testing.T) {
	t.Parallel()
	s := start(t, Config{Dir: folder(t)})
	must(t, s.OwnerURL(""), "CREATE TABLE committed AS SELECT 7 AS n")
	port := s.Port()
	s.Kill()
	select {
	case <-s.Done():
	default:
		t.Fatal("Done is still open")
	}
	if left := postgresIn(s.layout.data()); len(left) > 0 {
		t.Fatalf("processes left: %v", left)
	}
	if err := s.Restart(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s.Port() != port {
		t.Errorf("port changed from %d to %d", port, s.Port())
	}
	if got := must(t, s.OwnerURL(""), "SELECT n FROM committed"); got != "7" {
		t.Errorf("n = %q", got)
	}
}

func TestLauncherKilled(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 200)
	n, _ := out.Read(line)
	if !bytes.HasPrefix(line[:n], []byte("ready ")) {
		t.Fatalf("launcher said %q", line[:n])
	}
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()

	s := start(t, Config{Dir: dir, Volatile: true}) // waits for the orphan to go
	if got := must(t, s.AppURL(""), "SELECT 1"); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestStalePidFile(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	s := start(t, Config{Dir: dir, Volatile: true})
	pidFile := filepath.Join(s.layout.data(), "postmaster.pid")
	content, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	// The number in the file belongs to a process that lives and is no server.
	_, rest, _ := strings.Cut(string(content), "\n")
	stale := fmt.Sprintf("%d\n%s", os.Getpid(), rest)
	if err := os.WriteFile(pidFile, []byte(stale), 0o600); err != nil {
		t.Fatal(err)
	}
	s = start(t, Config{Dir: dir, Volatile: true})
	must(t, s.AppURL(""), "SELECT 1")
}
