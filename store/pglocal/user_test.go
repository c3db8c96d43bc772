package pglocal

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestAsOrdinaryUser repeats the tests as the user nobody when they run as root.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 || os.Getenv(userEnv) != "" {
		return // we are an ordinary user already
	}
	t.Parallel()
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)

	// Neither the test binary nor root's temporary folders are open to others.
	dir := filepath.Dir(folder(t))
	binary := filepath.Join(dir, "pglocal.test")
	// A program of its own does the copying: a file that this process holds open for
	// writing while another test forks cannot be executed ("text file busy").
	if out, err := exec.Command("install", "-m", "755", os.Args[0], binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tmp := filepath.Join(dir, "t")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(tmp, uid, gid); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^(TestStart|TestStop|TestLauncherKilled|TestKill)$", "-test.v")
	cmd.Dir = tmp
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, userEnv + "=1"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestStart ") {
		t.Fatalf("as nobody: %v\n%s", err, out)
	}
}

func TestAccountMustBeAbleToEnter(t *testing.T) {
	locked := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(locked, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := &account{name: "stranger", uid: 54321, gid: 54321}
	err := stranger.checkCanEnter(filepath.Join(locked, "pg"))
	if err == nil || !strings.Contains(err.Error(), "stranger") {
		t.Errorf("err = %v", err)
	}
	if err := stranger.checkCanEnter("/usr/lib"); err != nil {
		t.Error(err)
	}
}
