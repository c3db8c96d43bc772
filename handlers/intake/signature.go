package intake

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation/definition"
)

// check verifies a notification's signature over exactly the bytes that were received,
// in constant time, with any of the source's current secrets. It gives the measured
// clock skew of the sender. Where gzip is permitted, a signature over the decompressed
// bytes counts as well: senders differ, and neither can be forged.
func (d Deps) check(src *definition.Source, h http.Header, b rawBody) (*int64, *Refused) {
	now := d.Now()
	skew := skewOf(now, statedTime(h))
	if src.Signature.Scheme == definition.SchemeToken {
		return skew, nil
	}
	secrets := d.secrets(src)
	if len(secrets) == 0 {
		d.Log.Error("no secret of the source can be read", "source", src.Name)
		return skew, &Refused{http.StatusServiceUnavailable, "secret", "the secret of this source is not set"}
	}
	bodies := [][]byte{b.received}
	if src.AcceptGzip && len(b.decoded) > 0 && &b.decoded[0] != &b.received[0] {
		bodies = append(bodies, b.decoded)
	}
	var signed signatures
	switch src.Signature.Scheme {
	case definition.SchemeHMAC:
		signed = headerSignatures(src, h)
	case definition.SchemeStandardWebhooks:
		signed = standardWebhooks(h)
	case definition.SchemeStripe:
		signed = stripe(h)
	}
	if signed.stamped {
		skew = skewOf(now, signed.at)
	}
	if len(signed.macs) == 0 {
		return skew, &Refused{http.StatusUnauthorized, "signature_missing", "a readable signature is missing"}
	}
	for _, secret := range secrets {
		for _, body := range bodies {
			if signed.valid(src, secret, body) {
				return skew, signed.fresh(now, src.Tolerance)
			}
		}
	}
	return skew, &Refused{http.StatusUnauthorized, "signature", "the signature does not fit the bytes received"}
}

// signatures are all signatures that a request carries; any of them may be the one made
// with a secret that is current.
type signatures struct {
	macs    [][]byte
	prefix  string // signed before the body
	at      time.Time
	stamped bool // the time stamp is part of what is signed
}

func (s signatures) valid(src *definition.Source, secret string, body []byte) bool {
	key := []byte(secret)
	if src.Signature.Scheme == definition.SchemeStandardWebhooks {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return false
		}
		key = raw
	}
	m := hmac.New(sha256.New, key)
	m.Write([]byte(s.prefix))
	m.Write(body)
	want := m.Sum(nil)
	ok := false
	for _, have := range s.macs {
		ok = hmac.Equal(want, have) || ok
	}
	return ok
}

// fresh checks the signed time, in both directions; it is only asked after the
// signature was found valid. How old the event is does not matter (FC-10).
func (s signatures) fresh(now time.Time, tolerance time.Duration) *Refused {
	if !s.stamped {
		return nil
	}
	if d := now.Sub(s.at); d > tolerance || d < -tolerance {
		return &Refused{http.StatusUnauthorized, "signature_time", "the signature's time is " + d.Abs().Round(time.Second).String() + " away from ours"}
	}
	return nil
}

// headerSignatures reads an HMAC from its header, with or without the prefix, hex in
// either case. Shopify sends one of two families of headers.
func headerSignatures(src *definition.Source, h http.Header) signatures {
	values := h.Values(src.Signature.Header)
	if strings.EqualFold(src.Signature.Header, "X-Shopify-Hmac-Sha256") {
		values = append(values[:len(values):len(values)], h.Values("Shopify-Hmac-Sha256")...)
	}
	var s signatures
	for _, v := range values {
		v = strings.TrimSpace(v)
		if p := src.Signature.Prefix; p != "" {
			v = strings.TrimPrefix(v, p)
		}
		var mac []byte
		var err error
		if src.Signature.Encoding == "base64" {
			mac, err = base64.StdEncoding.DecodeString(v)
		} else {
			mac, err = hex.DecodeString(strings.TrimPrefix(v, "sha256="))
		}
		if err == nil && len(mac) == sha256.Size {
			s.macs = append(s.macs, mac)
		}
	}
	return s
}

// standardWebhooks reads webhook-id, webhook-timestamp, webhook-signature (1.0.0).
func standardWebhooks(h http.Header) signatures {
	id, stamp := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	s := signatures{prefix: id + "." + stamp + ".", at: unix(stamp), stamped: true}
	if id == "" || s.at.IsZero() {
		return signatures{}
	}
	for _, v := range strings.Fields(h.Get("Webhook-Signature")) {
		version, text, _ := strings.Cut(v, ",")
		if mac, err := base64.StdEncoding.DecodeString(text); err == nil && version == "v1" && len(mac) == sha256.Size {
			s.macs = append(s.macs, mac)
		}
	}
	return s
}

// stripe reads Stripe-Signature: t=…,v1=…[,v1=…].
func stripe(h http.Header) signatures {
	s := signatures{stamped: true}
	for _, part := range strings.Split(h.Get("Stripe-Signature"), ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			s.at, s.prefix = unix(v), v+"."
		case "v1":
			if mac, err := hex.DecodeString(v); err == nil && len(mac) == sha256.Size {
				s.macs = append(s.macs, mac)
			}
		}
	}
	if s.at.IsZero() {
		return signatures{}
	}
	return s
}

func unix(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0)
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

// secrets reads the source's secrets anew, so that a rotation needs no restart. One
// that cannot be read is left out: the others are still valid.
func (d Deps) secrets(src *definition.Source) []string {
	var out []string
	for _, ref := range src.Secrets {
		v := ""
		switch {
		case ref.Env != "":
			v, _ = d.Env(ref.Env)
		case ref.File != "":
			raw, err := os.ReadFile(ref.File)
			if err != nil {
				d.Log.Warn("secret cannot be read", "source", src.Name, "secret", ref.Name())
			}
			v = strings.TrimRight(string(raw), "\r\n")
		}
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}
