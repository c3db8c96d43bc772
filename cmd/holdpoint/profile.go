package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"holdpoint/operation/definition"
	"holdpoint/systems"
)

type profileCmd struct {
	Check profileCheckCmd `cmd:"" help:"Check destination profiles and say in words what each action means."`
	Probe profileProbeCmd `cmd:"" help:"Show on a test account whether an action's protection holds: two equal requests with one key."`
	List  profileListCmd  `cmd:"" help:"List the profiles that come with this program."`
	Show  profileShowCmd  `cmd:"" help:"Print one of them, to be copied and applied."`
}

type profileCheckCmd struct {
	Files []string `arg:"" name:"file" help:"Profiles, or - for standard input."`
}

// Run checks every file, also after one that is wrong.
func (c profileCheckCmd) Run() error {
	var all definition.Problems
	for i, name := range c.Files {
		raw, err := readNamed(name)
		if err != nil {
			return err
		}
		p, err := definition.ParseProfile(name, raw)
		var problems definition.Problems
		switch {
		case errors.As(err, &problems):
			all = append(all, problems...)
			continue
		case err != nil:
			return err
		}
		if wrong := p.CheckPlace(os.LookupEnv); len(wrong) > 0 {
			all = append(all, wrong...)
			continue
		}
		if i > 0 {
			fmt.Println()
		}
		explainProfile(os.Stdout, name, p)
	}
	if len(all) > 0 {
		return all
	}
	return nil
}

func readNamed(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(name)
}

// explainProfile writes what a profile means, action by action.
func explainProfile(w io.Writer, file string, p *definition.Profile) {
	fmt.Fprintf(w, "%s is valid: destination %s (%s), account %s, environment %s, credential %s\n", file, p.Destination, p.Title.In("en"), p.Account, p.Environment, p.Auth.Name())
	if p.Local {
		fmt.Fprintln(w, "Private addresses are permitted here (local: true).")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Actions)) {
		fmt.Fprintf(w, "\n%s\n", name)
		last := definition.Topic("")
		for _, e := range definition.Explain(p.Actions[name].Meaning()) {
			topic := string(e.Topic)
			if e.Topic == last {
				topic = ""
			}
			last = e.Topic
			writeWrapped(w, topic, e.Text)
		}
	}
}

// writeWrapped writes a topic and its text in a column of its own.
func writeWrapped(w io.Writer, topic, text string) {
	const left, width = 14, 100
	line := fmt.Sprintf("  %-*s", left, topic)
	for i, word := range strings.Fields(text) {
		if i > 0 && len(line)+1+len(word) > width {
			fmt.Fprintln(w, line)
			line = strings.Repeat(" ", left+2)
		}
		line += " " + word
	}
	fmt.Fprintln(w, line)
}

type profileListCmd struct{}

// Run lists the embedded profiles.
func (profileListCmd) Run() error {
	for _, kind := range []struct {
		word string
		in   fs.FS
	}{{"destination", systems.Profiles()}, {"source", systems.Sources()}} {
		names, err := fs.Glob(kind.in, "*.yaml")
		if err != nil {
			return err
		}
		for _, n := range names {
			raw, err := fs.ReadFile(kind.in, n)
			if err != nil {
				return err
			}
			fmt.Printf("%-12s %-20s %s\n", kind.word, strings.TrimSuffix(n, ".yaml"), firstComment(raw))
		}
	}
	return nil
}

// firstComment gives the first sentence of a file's head comment.
func firstComment(raw []byte) string {
	var words []string
	for line := range strings.Lines(string(raw)) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			break
		}
		words = append(words, strings.Fields(text)...)
	}
	for i, w := range words {
		if strings.HasSuffix(w, ".") {
			return strings.TrimSuffix(strings.Join(words[:i+1], " "), ".")
		}
	}
	return strings.Join(words, " ")
}

type profileShowCmd struct {
	Name   string `arg:"" help:"Name of a system, as profile list shows it."`
	Source bool   `help:"Its source instead of its destination profile."`
}

// Run prints one embedded file as it is.
func (c profileShowCmd) Run() error {
	from := systems.Profiles()
	if c.Source {
		from = systems.Sources()
	}
	raw, err := fs.ReadFile(from, path.Base(c.Name)+".yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %q; holdpoint profile list shows the names", c.Name)
	}
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(raw)
	return err
}
