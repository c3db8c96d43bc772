// Command pgctl is what the Makefile uses around the private PostgreSQL:
//
//	pgctl run -- COMMAND…   run a command beside a throw-away server, whose
//	                        address it finds in HOLDPOINT_TEST_DATABASE_URL
//	pgctl psql DATA [ARG…]  open the database of a data folder in psql
//	pgctl dir DATA          print where that database lives
//	pgctl remove DATA       delete it
//
// It may import store/pglocal of ours.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"holdpoint/store/pglocal"
)

const testURL = "HOLDPOINT_TEST_DATABASE_URL"

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgctl:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) < 2 {
		return 2, errors.New("usage: pgctl run -- COMMAND… | psql DATA [ARG…] | dir DATA | remove DATA")
	}
	if args[0] == "run" {
		if args[1] == "--" {
			args = args[1:]
		}
		return beside(args[1:])
	}
	dir, err := pglocal.DefaultDir(args[1])
	if err != nil {
		return 1, err
	}
	switch args[0] {
	case "dir":
		fmt.Println(dir)
		return 0, nil
	case "remove":
		return 0, pglocal.Remove(dir)
	case "psql":
		return psql(dir, args[2:])
	}
	return 2, fmt.Errorf("unknown command %q", args[0])
}

// beside runs a command with a throw-away server, or with the server that the
// environment names already.
func beside(command []string) (int, error) {
	if len(command) == 0 {
		return 2, errors.New("run needs a command")
	}
	// A terminal sends Ctrl-C to the command too; we wait for it either way.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	env := os.Environ()
	if os.Getenv(testURL) == "" {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		server, err := pglocal.Start(ctx, pglocal.Config{Volatile: true})
		if err != nil {
			return 1, err
		}
		defer server.Stop(context.Background())
		env = append(env, testURL+"="+server.AdminURL())
	}
	return wait(command, env, signals)
}

// wait runs the command, hands SIGTERM and SIGHUP on, and returns its exit code
// (128 + signal when a signal ended it, as shells do).
func wait(command, env []string, signals <-chan os.Signal) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s != os.Interrupt {
				cmd.Process.Signal(s)
			}
		case err := <-done:
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				return 0, err
			}
			if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
				return 128 + int(ws.Signal()), nil
			}
			return exit.ExitCode(), nil
		}
	}
}

// psql opens the running server of a folder; when none runs, it starts one for
// as long as psql is open.
func psql(dir string, args []string) (int, error) {
	bin, err := pglocal.FindBinaries()
	if err != nil {
		return 1, err
	}
	address, err := pglocal.RunningAdminURL(dir, "holdpoint")
	if err != nil {
		if _, missing := os.Stat(dir); missing != nil {
			return 1, fmt.Errorf("there is no database in %s yet: start Holdpoint once", dir)
		}
		server, err := pglocal.Start(context.Background(), pglocal.Config{Dir: dir})
		if err != nil {
			return 1, err
		}
		defer server.Stop(context.Background())
		if address, err = pglocal.RunningAdminURL(dir, "holdpoint"); err != nil {
			return 1, err
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return 1, err
	}
	password, _ := u.User.Password()
	env := append(os.Environ(), // not on the command line, where others could read the password
		"PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username(),
		"PGPASSWORD="+password, "PGDATABASE=holdpoint")
	signals := make(chan os.Signal, 4) // psql handles Ctrl-C itself
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return wait(append([]string{filepath.Join(bin, "psql")}, args...), env, signals)
}
