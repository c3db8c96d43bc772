package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

type configDocCmd struct {
	File string `arg:"" help:"File to write."`
}

// Run writes the page.
func (c configDocCmd) Run(k *kong.Kong) error { return os.WriteFile(c.File, configDoc(k), 0o644) }

// configDoc describes every setting, from the flags themselves.
func configDoc(k *kong.Kong) []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Generated from the flags by go generate ./cmd/holdpoint. Do not edit. -->\n# Settings\n\n" +
		"Every setting is an environment variable and a flag; a flag wins. Addresses with\npasswords belong into the environment: other users of a machine can see flags.\n\n" +
		"## All commands\n\n")
	writeFlags(&b, k.Model.Flags)
	for _, cmd := range k.Model.Leaves(true) {
		var args []string
		for _, a := range cmd.Positional {
			args = append(args, a.Summary())
		}
		fmt.Fprintf(&b, "\n## holdpoint %s\n\n%s\n", strings.TrimSpace(cmd.Path()+" "+strings.Join(args, " ")), cmd.Help)
		if hasShown(cmd.Flags) {
			b.WriteByte('\n')
			writeFlags(&b, cmd.Flags)
		}
	}
	b.WriteString("\n## Files in the data folder\n\n| file | what it is |\n| --- | --- |\n" +
		"| `key` | the installation's secret, unless `HOLDPOINT_KEY_FILE` names another file; made on the first start, mode 0600. It cannot be made anew. |\n" +
		"| `witness.json` | which state of the database this machine last saw, mode 0600; written once a second at most. At the start, a database that does not fit it is an older copy, and all sends are paused. |\n" +
		"| `address` | the address that `serve` last had; the links that other commands print lead there. |\n" +
		"| `database.json` | addresses with passwords of the private PostgreSQL while `serve` runs it, mode 0600. The other commands find it there. |\n" +
		"| `postgres/` | the private PostgreSQL; where Holdpoint runs as root: `/var/lib/holdpoint/<hash>`. |\n" +
		"\nSecrets of sources and destinations are environment variables or files that the\ndefinitions name; they are not listed here.\n")
	return b.Bytes()
}

func hasShown(flags []*kong.Flag) bool {
	for _, f := range flags {
		if !f.Hidden && f.Name != "help" {
			return true
		}
	}
	return false
}

func writeFlags(b *bytes.Buffer, flags []*kong.Flag) {
	b.WriteString("| variable | flag | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range flags {
		if f.Hidden || f.Name == "help" {
			continue
		}
		var names []string
		for _, e := range f.Envs {
			names = append(names, "`"+e+"`")
		}
		value := ""
		if f.HasDefault && f.Default != "" {
			value = "`" + f.Default + "`"
		}
		fmt.Fprintf(b, "| %s | `--%s` | %s | %s |\n", strings.Join(names, " "), f.Name, value, strings.ReplaceAll(f.OrigHelp, "|", "\\|"))
	}
}
