package checkpoint

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// NewKey makes a signing key and the verifier key that belongs to it. name must be
// without spaces and plus signs.
func NewKey(rand io.Reader, name string) (signing, verifier string, err error) {
	if name == "" || strings.ContainsAny(name, " +\t\r\n") {
		return "", "", fmt.Errorf("%q is no name for a key: it may hold neither spaces nor plus signs", name)
	}
	return note.GenerateKey(rand, name)
}

// Signer signs checkpoints. Its secret is in none of its texts.
type Signer struct {
	s        note.Signer
	verifier string
}

// ParseSigner reads a signing key. What is wrong with it never stands in the error.
func ParseSigner(text []byte) (*Signer, error) {
	bad := errors.New("this is no signing key of the form PRIVATE+KEY+name+hash+data")
	signing := strings.TrimSpace(string(text))
	s, err := note.NewSigner(signing)
	if err != nil {
		return nil, bad
	}
	parts := strings.SplitN(signing, "+", 5)
	key, err := base64.StdEncoding.DecodeString(parts[4]) // one byte for the algorithm, then the seed
	if err != nil || len(key) != 1+ed25519.SeedSize {
		return nil, bad
	}
	public, _ := ed25519.NewKeyFromSeed(key[1:]).Public().(ed25519.PublicKey)
	verifier, err := note.NewEd25519VerifierKey(parts[2], public)
	if err != nil {
		return nil, bad
	}
	return &Signer{s, verifier}, nil
}

// Verifier is the verifier key: whoever has it can check what this key signs.
func (s *Signer) Verifier() string { return s.verifier }

// Fingerprint names the key as signatures do: name+hash.
func (s *Signer) Fingerprint() string { return fmt.Sprintf("%s+%08x", s.s.Name(), s.s.KeyHash()) }

// Keys are the verifier keys that somebody trusts.
type Keys struct {
	v     note.Verifiers
	names []string
}

// ParseKeys reads verifier keys, one on each line; empty lines and lines that begin with
// # are not keys.
func ParseKeys(text string) (*Keys, error) {
	k := &Keys{}
	var list []note.Verifier
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		v, err := note.NewVerifier(l)
		if err != nil {
			return nil, fmt.Errorf("%q is no verifier key: %w", l, err)
		}
		list, k.names = append(list, v), append(k.names, fmt.Sprintf("%s+%08x", v.Name(), v.KeyHash()))
	}
	if len(list) == 0 {
		return nil, errors.New("there is no verifier key")
	}
	k.v = note.VerifierList(list...)
	return k, nil
}

// Fingerprints name the keys: name+hash of each.
func (k *Keys) Fingerprints() []string { return k.names }
