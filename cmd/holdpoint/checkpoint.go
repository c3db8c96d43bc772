package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"holdpoint/jobs"
	"holdpoint/operation/checkpoint"
)

// Checkpointing are the settings that tie the history to what lies outside the database.
type Checkpointing struct {
	CheckpointFile    string        `env:"HOLDPOINT_CHECKPOINT_FILE" help:"File outside the database to which signed checkpoints of the history are appended. Keep it on another disk or machine than the database. Without it there are chains only." group:"Checkpoints"`
	CheckpointKeyFile string        `env:"HOLDPOINT_CHECKPOINT_KEY_FILE" help:"Ed25519 key that signs checkpoints; holdpoint checkpoint key makes it. Without it this process signs none and copies those of others to the file." group:"Checkpoints"`
	CheckpointEvery   time.Duration `env:"HOLDPOINT_CHECKPOINT_EVERY" default:"5m" help:"Time between checkpoints, where something is new." group:"Checkpoints"`
}

// checkpoints gives what the jobs need; nil = chains only.
func (c Checkpointing) checkpoints() (*jobs.Checkpoints, error) {
	if c.CheckpointFile == "" && c.CheckpointKeyFile == "" {
		return nil, nil
	}
	if c.CheckpointFile == "" {
		return nil, errors.New("HOLDPOINT_CHECKPOINT_KEY_FILE needs HOLDPOINT_CHECKPOINT_FILE: checkpoints that lie in the database alone prove nothing about it")
	}
	out := &jobs.Checkpoints{File: jobs.CheckpointFile{Path: c.CheckpointFile}, Every: c.CheckpointEvery}
	if c.CheckpointKeyFile == "" {
		return out, nil
	}
	var err error
	out.Signer, err = readSigner(c.CheckpointKeyFile)
	return out, err
}

// readSigner reads a signing key, which nobody else may read.
func readSigner(path string) (*checkpoint.Signer, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("checkpoint key: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o007 != 0 {
		return nil, fmt.Errorf("checkpoint key %s can be read by everybody: chmod o-rwx %s", path, path)
	}
	s, err := checkpoint.ParseSigner(raw)
	if err != nil {
		return nil, fmt.Errorf("checkpoint key %s: %w", path, err)
	}
	return s, nil
}

type checkpointCmd struct {
	Key checkpointKeyCmd `cmd:"" help:"Make a key that signs checkpoints, or show the verifier key of one."`
}

type checkpointKeyCmd struct {
	File string `arg:"" help:"File of the key. An existing one is never written over."`
	Name string `default:"holdpoint" help:"Name in the key and in each signature; neither spaces nor plus signs."`
	Show bool   `help:"Show the verifier key of an existing file."`
}

// Run makes the key and prints the verifier key, which is no secret.
func (c *checkpointKeyCmd) Run() error {
	if c.Show {
		s, err := readSigner(c.File)
		if err != nil {
			return err
		}
		fmt.Println(s.Verifier())
		return nil
	}
	signing, verifier, err := checkpoint.NewKey(rand.Reader, c.Name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make the checkpoint key: %w", err)
	}
	_, err = fmt.Fprintln(f, signing)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(c.File)
		return fmt.Errorf("make the checkpoint key: %w", err)
	}
	fmt.Println(verifier)
	return nil
}
