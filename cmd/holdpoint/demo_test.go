package main

import (
	"io/fs"
	"path"
	"testing"

	"holdpoint/systems"
)

// The demonstration and the files of the trade can be applied side by side: none of them
// replaces another of its kind.
func TestDemoBesideSystems(t *testing.T) {
	t.Parallel()
	for folder, ready := range map[string]fs.FS{"demo/profiles": systems.Profiles(), "demo/sources": systems.Sources()} {
		demo, err := fs.Glob(demoFiles, folder+"/*.yaml")
		if err != nil || len(demo) == 0 {
			t.Fatalf("%s: %v, %v", folder, demo, err)
		}
		for _, file := range demo {
			if _, err := fs.Stat(ready, path.Base(file)); err == nil {
				t.Errorf("%s would replace the file of the trade with that name", file)
			}
		}
	}
}
