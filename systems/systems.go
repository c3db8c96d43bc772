// Package systems holds the profiles of the destinations that people run and the
// files of their sources, ready to be copied and applied. They are data: what each
// system documents, with the date it was read, and nothing that is not documented
// counts as a protection.
//
// It imports nothing; its tests run every profile against the sandbox.
package systems

import (
	"embed"
	"io/fs"
)

//go:embed profiles sources
var files embed.FS

// Profiles gives the destination profiles: one file NAME.yaml for each system.
func Profiles() fs.FS { return within("profiles") }

// Sources gives the sources: one file NAME.yaml for each system.
func Sources() fs.FS { return within("sources") }

func within(folder string) fs.FS {
	sub, err := fs.Sub(files, folder)
	if err != nil { // only a folder's name that is no path
		panic(err)
	}
	return sub
}
