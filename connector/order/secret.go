package order

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Env gives the value of an environment variable; ok is false when it is not set.
type Env = func(name string) (value string, ok bool)

// Ref names where a credential's value is: an environment variable or a file. The
// value itself is never stored.
type Ref struct{ Env, File string }

// maxSecret is far above any real credential and far below a mistaken path.
const maxSecret = 64 << 10

// Read gives the credential's value, read anew at every use, so that a rotation needs
// no restart. One line break at the end of a file is not part of it. Errors name the
// reference, never the value.
func (r Ref) Read(env Env) (string, error) {
	switch {
	case r.Env != "":
		v, ok := env(r.Env)
		if !ok || v == "" {
			return "", fmt.Errorf("environment variable %s is not set", r.Env)
		}
		return oneLine(v, "environment variable "+r.Env)
	case r.File != "":
		f, err := os.Open(r.File)
		if err != nil {
			return "", fmt.Errorf("credential file %s cannot be read", r.File)
		}
		defer f.Close()
		raw, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
		if err != nil || len(raw) > maxSecret {
			return "", fmt.Errorf("credential file %s cannot be read, or is too large", r.File)
		}
		v := strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
		return oneLine(v, "credential file "+r.File)
	}
	return "", errors.New("the credential has neither an environment variable nor a file")
}

func oneLine(v, what string) (string, error) {
	if v == "" || strings.ContainsAny(v, "\r\n\x00") {
		return "", fmt.Errorf("%s is empty or has more than one line", what)
	}
	return v, nil
}
