package pglocal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// installLine is the command that brings the server programs to a Debian machine.
const installLine = "apt-get install -y --no-install-recommends postgresql"

// minMajor is the oldest PostgreSQL that the schema is written for.
const minMajor = 15

// FindBinaries returns the folder of the newest usable PostgreSQL server
// programs: Debian's folders first, then PATH, then what pg_config names.
// The error wraps ErrNoBinaries and names the command that installs them.
func FindBinaries() (string, error) { return findBinaries() }

func findBinaries() (string, error) {
	var tooOld []string
	for _, dir := range candidateDirs() {
		switch major := serverMajor(dir); {
		case major >= minMajor:
			return dir, nil
		case major > 0:
			tooOld = append(tooOld, fmt.Sprintf("%s (version %d)", dir, major))
		}
	}
	if len(tooOld) > 0 {
		return "", fmt.Errorf("%w in version %d or newer, only %s; install them with: %s",
			ErrNoBinaries, minMajor, strings.Join(tooOld, ", "), installLine)
	}
	return "", fmt.Errorf("%w; install them with: %s", ErrNoBinaries, installLine)
}

// candidateDirs lists the folders to try, best first.
func candidateDirs() []string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return dirMajor(b) - dirMajor(a) })
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	return dirs
}

func dirMajor(bin string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
	return n
}

// serverMajor asks the programs in dir for their version; 0 means unusable.
func serverMajor(dir string) int {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "-V").Output()
	if err != nil {
		return 0
	}
	// "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"
	_, after, _ := strings.Cut(string(out), "(PostgreSQL) ")
	digits := after
	if i := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = after[:i]
	}
	n, _ := strconv.Atoi(digits)
	return n
}
