package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"holdpoint/cmd/holdpoint/verify"
	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
)

type verifyCmd struct {
	Export      string `help:"Verify this export of the history (JSON Lines) instead of the database; - reads standard input." placeholder:"FILE" xor:"what"`
	Checkpoints string `env:"HOLDPOINT_CHECKPOINT_FILE" help:"File with the signed checkpoints." placeholder:"FILE" group:"Checkpoints"`
	VerifierKey string `env:"HOLDPOINT_VERIFIER_KEY" help:"Trusted verifier key, or a file with one on each line. Default: the one that belongs to HOLDPOINT_CHECKPOINT_KEY_FILE." placeholder:"KEY" group:"Checkpoints"`
	KeyFile     string `env:"HOLDPOINT_CHECKPOINT_KEY_FILE" name:"checkpoint-key-file" hidden:""`
	Contents    bool   `help:"Compare contents, requests and attachments with their hashes too, and say which were erased."`
	Operation   string `help:"With --prove: whose history." placeholder:"ID"`
	Prove       bool   `help:"Write a proof that the operation's history is in the newest published checkpoint."`
	Out         string `help:"File for the proof. Default: standard output." placeholder:"FILE"`
	Proof       string `help:"Check a proof that --prove wrote; needs no database." placeholder:"FILE" xor:"what"`
	JSON        bool   `name:"json" help:"Print the report as JSON."`
}

// exitBroken is the exit code of a verification that found something wrong.
const exitBroken = 3

// broken is what a verification found.
type broken struct{ said string }

// Error says it.
func (b broken) Error() string { return b.said }

// ExitCode tells it from an error, for which nothing was verified.
func (b broken) ExitCode() int { return exitBroken }

// Validate refuses flags that do not fit together.
func (c *verifyCmd) Validate() error {
	switch {
	case c.Prove != (c.Operation != ""):
		return errors.New("--prove and --operation belong together")
	case c.Prove && (c.Export != "" || c.Proof != ""):
		return errors.New("--prove reads the database: it goes with neither --export nor --proof")
	case c.Contents && (c.Export != "" || c.Proof != "" || c.Prove):
		return errors.New("--contents reads the database: it goes with neither --export, --proof nor --prove")
	}
	return nil
}

// Run verifies.
func (c *verifyCmd) Run(s *Settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	keys, err := c.keys()
	if err != nil {
		return err
	}
	if (c.Proof != "" || c.Prove) && keys == nil {
		return errors.New("a proof needs a verifier key: --verifier-key (HOLDPOINT_VERIFIER_KEY)")
	}
	if c.Proof != "" {
		return c.checkProof(keys)
	}
	if c.Export != "" {
		return c.export(keys)
	}
	db, err := s.findDatabase()
	if err != nil {
		return err
	}
	return store.ReadRecord(ctx, db.app, func(rec *store.Record) error {
		// The file after the snapshot: what the snapshot holds is in the file by then.
		if _, err := rec.Installation(); err != nil {
			return err
		}
		file, err := c.file()
		if err != nil {
			return err
		}
		if file != nil {
			defer file.Close()
		}
		if c.Prove {
			return c.prove(rec, keys, reader(file))
		}
		r, err := verify.Run(verify.Job{Record: rec, Checkpoints: reader(file), Keys: keys, Contents: c.Contents})
		if err != nil {
			return err
		}
		return c.say(r)
	})
}

// reader is nil for no file, not an interface that holds nil.
func reader(f *os.File) io.Reader {
	if f == nil {
		return nil
	}
	return f
}

// file opens the checkpoint file; nil = none is set.
func (c *verifyCmd) file() (*os.File, error) {
	if c.Checkpoints == "" {
		return nil, nil
	}
	f, err := os.Open(c.Checkpoints)
	if err != nil {
		return nil, fmt.Errorf("checkpoint file: %w", err)
	}
	return f, nil
}

// keys gives the trusted keys; nil = none is known.
func (c *verifyCmd) keys() (*checkpoint.Keys, error) {
	text := c.VerifierKey
	if text == "" && c.KeyFile != "" {
		signer, err := readSigner(c.KeyFile)
		if err != nil {
			return nil, err
		}
		text = signer.Verifier()
	}
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, "+") {
		raw, err := os.ReadFile(text)
		if err != nil {
			return nil, fmt.Errorf("verifier key: %w", err)
		}
		text = string(raw)
	}
	return checkpoint.ParseKeys(text)
}

func (c *verifyCmd) export(keys *checkpoint.Keys) error {
	var in *os.File
	if c.Export != "-" {
		f, err := os.Open(c.Export)
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
		defer f.Close()
		in = f
	} else {
		kept, err := os.CreateTemp("", "holdpoint-export-*")
		if err != nil {
			return err
		}
		defer func() { _ = kept.Close(); _ = os.Remove(kept.Name()) }()
		if _, err := io.Copy(kept, os.Stdin); err != nil {
			return err
		}
		in = kept
	}
	file, err := c.file()
	if err != nil {
		return err
	}
	if file != nil {
		defer file.Close()
	}
	r, err := verify.Run(verify.Job{Export: in, Checkpoints: reader(file), Keys: keys})
	if err != nil {
		return err
	}
	return c.say(r)
}

func (c *verifyCmd) prove(rec *store.Record, keys *checkpoint.Keys, file io.Reader) error {
	proof, at, err := verify.Prove(rec, operation.ID(c.Operation), file, keys)
	if err != nil {
		return err
	}
	raw, err := json.MarshalIndent(proof, "", "  ")
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if c.Out == "" {
		_, err = os.Stdout.Write(raw)
		return err
	}
	if err := os.WriteFile(c.Out, raw, 0o600); err != nil {
		return err
	}
	fmt.Printf("%s: %d entries of %s are in checkpoint %d of %s.\n", c.Out, len(proof.Entries), c.Operation, at.Number, at.At.Format(operation.TimeForm))
	return nil
}

func (c *verifyCmd) checkProof(keys *checkpoint.Keys) error {
	raw, err := os.ReadFile(c.Proof)
	if err != nil {
		return fmt.Errorf("proof: %w", err)
	}
	var p checkpoint.Proof
	if err := json.Unmarshal(raw, &p); err != nil {
		return fmt.Errorf("proof: %w", err)
	}
	at, err := p.Check(keys)
	if err != nil {
		return broken{"the proof does not hold: " + err.Error()}
	}
	fmt.Printf("Proven: %d entries of %s %s are in checkpoint %d of %s (%s, %d entries, root %x).\n", len(p.Entries),
		p.Entries[0].Line.Entry.SubjectKind, p.Entries[0].Line.Entry.SubjectID, at.Number, at.At.Format(operation.TimeForm), at.Origin(), at.Size, at.Root)
	if n := p.Thinned(); n > 0 {
		fmt.Printf("%d entries whose words were removed under a term.\n", n)
	}
	return nil
}

// say prints the report. What is broken is an error with an exit code of its own.
func (c *verifyCmd) say(r *verify.Report) error {
	if c.JSON {
		raw, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		fmt.Println(string(raw))
	} else {
		fmt.Print(sayReport(r))
	}
	if r.Broken == 0 {
		return nil
	}
	if r.Broken == 1 {
		return broken{fmt.Sprintf("NOT WHOLE: %s", r.Findings[0])}
	}
	return broken{fmt.Sprintf("NOT WHOLE: %d findings. The first: %s", r.Broken, r.Findings[0])}
}

func sayReport(r *verify.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d entries of %d subjects", r.Entries, r.Subjects)
	if r.Heads {
		b.WriteString(", with the heads of their chains")
	}
	b.WriteString(".\n")
	if c := r.Newest; c != nil {
		fmt.Fprintf(&b, "%d checkpoints, the newest is %d of %s with %d entries; %d entries came after it.\n", r.Checkpoints, c.Number, c.At.Format(operation.TimeForm), c.Size, r.Entries-r.Covered)
	}
	if r.Thinned > 0 {
		fmt.Fprintf(&b, "%d entries whose words were removed under a term.\n", r.Thinned)
	}
	if n := r.Bodies; n != nil {
		fmt.Fprintf(&b, "%d bodies are what was recorded, %d were erased.\n", n.Whole, n.Erased)
	}
	for _, s := range r.Remarks {
		fmt.Fprintf(&b, "Note: %s.\n", s)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s\n", f)
	}
	switch {
	case r.Broken > 0:
	case r.Partial:
		b.WriteString("What is there verifies. Whether it is all cannot be told from a part.\n")
	default:
		b.WriteString("Whole.\n")
	}
	return b.String()
}
