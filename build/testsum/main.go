// Command testsum reads the output of `go test -json` and prints what a person
// wants to see: a line per package, everything that failing tests printed, and
// at last "N passed, N failed". It exits with 1 when anything failed or no test
// ran. It imports the standard library alone.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

// key names a test, or a package when Test is empty.
type key struct{ pkg, test string }

type summary struct {
	out                     io.Writer
	passed, failed, skipped int
	output                  map[key]*strings.Builder
	failedTests             map[string]int // per package
}

func main() {
	s := summary{out: os.Stdout, output: map[key]*strings.Builder{}, failedTests: map[string]int{}}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	if !s.close() {
		os.Exit(1)
	}
}

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line takes one line; one that is no event (a message of the go command) is
// passed on.
func (s *summary) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		s.out.Write(line)
		return
	}
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		io.WriteString(s.out, e.Output)
	case "output":
		s.keep(k, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(k, e.Action)
		}
	}
}

func (s *summary) keep(k key, text string) {
	b := s.output[k]
	if b == nil {
		b = &strings.Builder{}
		s.output[k] = b
	}
	b.WriteString(text)
}

func (s *summary) endTest(k key, action string) {
	switch action {
	case "pass":
		s.passed++
	case "skip":
		s.skipped++
		s.print(k)
	case "fail":
		s.failed++
		s.failedTests[k.pkg]++
		s.print(k)
	}
	delete(s.output, k)
}

// endPackage prints what the package itself said: its ok or FAIL line and, when
// it failed, also what came before. A package that failed without a failing test
// (it did not build, it ended early) counts as one failure, with the output of
// the tests that were running.
func (s *summary) endPackage(e event) {
	own := key{e.Package, ""}
	if e.Action == "fail" {
		if s.failedTests[e.Package] == 0 {
			s.failed++
		}
		for k := range s.output {
			if k.pkg == e.Package && k != own {
				s.print(k)
				delete(s.output, k)
			}
		}
		s.print(own)
	} else if b := s.output[own]; b != nil {
		for l := range strings.Lines(b.String()) {
			if l != "PASS\n" {
				io.WriteString(s.out, l)
			}
		}
	}
	delete(s.output, own)
}

func (s *summary) print(k key) {
	if b := s.output[k]; b != nil {
		io.WriteString(s.out, b.String())
	}
}

// close prints the last line and tells whether all is well.
func (s *summary) close() bool {
	fmt.Fprintf(s.out, "%d passed, %d failed", s.passed, s.failed)
	if s.skipped > 0 {
		fmt.Fprintf(s.out, ", %d skipped", s.skipped)
	}
	fmt.Fprintln(s.out)
	return s.failed == 0 && s.passed > 0
}
