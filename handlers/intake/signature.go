package intake

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"holdpoint/operation/definition"
	"holdpoint/operation/signature"
)

// checked is what a signature told about a request.
type checked struct {
	skew   *int64 // how far the sender's clock is behind ours, in milliseconds
	secret string // the reference of the secret that fitted; "" = none was needed
}

// check verifies a notification's signature over exactly the bytes that were received,
// with any of the source's current secrets. It gives the measured clock skew of the
// sender, and which of our references fitted. Where gzip is permitted, a signature over
// the decompressed bytes counts as well: senders differ, and neither can be forged.
func (d Deps) check(src *definition.Source, r *http.Request, b rawBody) (checked, *Refused) {
	now := d.Now()
	out := checked{skew: skewOf(now, statedTime(r.Header))}
	if src.Signature.Scheme == definition.SchemeToken {
		return out, nil
	}
	secrets := d.secrets(src)
	if len(secrets) == 0 {
		d.Log.Error("no secret of the source can be read", "source", src.Name)
		return out, &Refused{http.StatusServiceUnavailable, "secret", "the secret of this source is not set"}
	}
	m := signature.Message{Method: r.Method, URL: d.Base + r.URL.RequestURI(), Header: r.Header, Bodies: [][]byte{b.received}}
	if src.AcceptGzip && len(b.decoded) > 0 && &b.decoded[0] != &b.received[0] {
		m.Bodies = append(m.Bodies, b.decoded)
	}
	s := src.Signature
	rule := signature.Rule{Scheme: signature.Scheme(s.Scheme), Header: s.Header, Encoding: s.Encoding, Prefix: s.Prefix, Tolerance: src.Tolerance}
	values := make([]string, len(secrets))
	for i, secret := range secrets {
		values[i] = secret.value
	}
	signed, err := signature.Verify(rule, values, m, now)
	if !signed.At.IsZero() {
		out.skew = skewOf(now, signed.At)
	}
	var no *signature.Error
	if !errors.As(err, &no) {
		out.secret = secrets[signed.Secret].reference
		return out, nil
	}
	if no.Code == signature.CodeSecret {
		d.Log.Error("no secret of the source has the form that its scheme needs", "source", src.Name)
	}
	return out, &Refused{http.StatusUnauthorized, refusalCode(no.Code), no.Detail}
}

// statedTime is when the sender says that it happened, by its own clock. It is not
// signed and decides nothing.
func statedTime(h http.Header) time.Time {
	for _, name := range []string{"X-Shopify-Triggered-At", "Shopify-Triggered-At", "Ce-Time"} {
		if t, err := time.Parse(time.RFC3339Nano, h.Get(name)); err == nil {
			return t
		}
	}
	return time.Time{}
}

// namedSecret is a secret that can be read now, with the reference that names it.
type namedSecret struct{ reference, value string }

// secrets reads the source's secrets anew, so that a rotation needs no restart. One
// that cannot be read is left out: the others are still valid.
func (d Deps) secrets(src *definition.Source) []namedSecret {
	var out []namedSecret
	for _, ref := range src.Secrets {
		v, err := ReadSecret(ref, d.Env)
		if err != nil {
			d.Log.Warn("secret cannot be read", "source", src.Name, "secret", ref.Name())
		}
		if v != "" {
			out = append(out, namedSecret{ref.Name(), v})
		}
	}
	return out
}

// Readable reports whether a secret can be read now, where its reference points.
func Readable(ref definition.SecretRef, env func(string) (string, bool)) bool {
	v, err := ReadSecret(ref, env)
	return err == nil && v != ""
}

// ReadSecret reads a secret where its reference points; "" = it is not set.
func ReadSecret(ref definition.SecretRef, env func(string) (string, bool)) (string, error) {
	switch {
	case ref.Env != "":
		v, _ := env(ref.Env)
		return v, nil
	case ref.File != "":
		raw, err := os.ReadFile(ref.File)
		return strings.TrimRight(string(raw), "\r\n"), err
	}
	return "", nil
}

// refusalCode is what a sender is told. That a secret of ours cannot be used is nobody
// else's business.
func refusalCode(code string) string {
	if code == signature.CodeSecret {
		return signature.CodeWrong
	}
	return code
}
