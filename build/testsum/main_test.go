package main

import (
	"strings"
	"testing"
)

func summarize(t *testing.T, in string) (string, bool) {
	t.Helper()
	var out strings.Builder
	s := summary{out: &out, output: map[key]*strings.Builder{}, failedTests: map[string]int{}}
	if err := s.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	ok := s.close()
	return out.String(), ok
}

func TestSummary(t *testing.T) {
	cases := []struct {
		name, in, want string
		ok             bool
	}{
		{"APassingPackageIsOneLine", `{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`, "ok  \tp\t0.1s\n1 passed, 0 failed\n", true},
		{"AFailingTestIsShownWhole", `{"Action":"output","Package":"p","Test":"TestA","Output":"a_test.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`, "a_test.go:1: wrong\nFAIL\tp\t0.1s\n0 passed, 1 failed, 1 skipped\n", false},
		{"APackageThatDoesNotBuildFails", `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p"}
`, "p.go:1: undefined: x\nFAIL\tp [build failed]\n0 passed, 1 failed\n", false},
		{"AnEarlyEndShowsTheRunningTest", `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1s\n"}
{"Action":"fail","Package":"p"}
`, "panic: test timed out\nFAIL\tp\t1s\n0 passed, 1 failed\n", false},
		{"NoTestIsNoSuccess", "no Go files\n", "no Go files\n0 passed, 0 failed\n", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			out, ok := summarize(t, c.in)
			if out != c.want || ok != c.ok {
				t.Errorf("ok = %v, output:\n%s", ok, out)
			}
		})
	}
}
