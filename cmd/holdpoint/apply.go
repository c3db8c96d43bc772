package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"

	"holdpoint/store"
)

type applyCmd struct {
	Files string `short:"f" name:"files" required:"" placeholder:"DIR" help:"Folder with YAML files of flows, destination profiles and sources; subfolders included."`
}

// Run applies all files of the folder, or none.
func (c applyCmd) Run(s *Settings) error {
	ctx := context.Background()
	files, err := definitions(os.DirFS(c.Files))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s holds no .yaml or .yml file", c.Files)
	}
	st, err := s.record(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	done, err := st.Apply(ctx, store.System("command"), files)
	if err != nil {
		return err
	}
	for _, d := range done {
		what := "applied"
		if d.Unchanged {
			what = "unchanged"
		}
		fmt.Printf("%-9s %-11s %s version %d (%s)\n", what, d.Kind, d.Name, d.Version, d.File)
	}
	return nil
}

// definitions reads every YAML file of a folder.
func definitions(dir fs.FS) ([]store.File, error) {
	var files []store.File
	err := fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" && path.Ext(name) != ".yml" {
			return err
		}
		raw, err := fs.ReadFile(dir, name)
		files = append(files, store.File{Name: name, Source: raw})
		return err
	})
	return files, err
}
