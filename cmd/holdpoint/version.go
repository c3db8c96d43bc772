package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// Run prints version, revision and Go version.
func (versionCmd) Run() error {
	version, revision := build()
	fmt.Printf("holdpoint %s (%s, %s)\n", version, cmp.Or(revision, "no revision"), runtime.Version())
	return nil
}

// build gives the module's version and the revision that it was built from.
func build() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return cmp.Or(info.Main.Version, "(devel)"), revision
}
