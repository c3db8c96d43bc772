package signature

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mac is the code over prefix, body and suffix.
func mac(key []byte, prefix string, body []byte, suffix string) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(prefix))
	m.Write(body)
	m.Write([]byte(suffix))
	return m.Sum(nil)
}

// any reports whether one of the codes is the wanted one; all are compared.
func anyEqual(want []byte, have [][]byte) bool {
	ok := 0
	for _, h := range have {
		ok |= subtle.ConstantTimeCompare(want, h)
	}
	return ok == 1
}

// readHMAC reads a code from its header, with or without the prefix, hex in either case.
// Shopify sends one of two families of headers.
func readHMAC(r Rule, h http.Header) (proof, error) {
	values := h.Values(r.Header)
	if strings.EqualFold(r.Header, "X-Shopify-Hmac-Sha256") {
		values = append(values[:len(values):len(values)], h.Values("Shopify-Hmac-Sha256")...)
	}
	var macs [][]byte
	for _, v := range values {
		v = strings.TrimSpace(v)
		if r.Prefix != "" {
			v = strings.TrimPrefix(v, r.Prefix)
		}
		var code []byte
		var err error
		if r.Encoding == "base64" {
			code, err = base64.StdEncoding.DecodeString(v)
		} else {
			code, err = hex.DecodeString(strings.TrimPrefix(v, "sha256="))
		}
		if err == nil && len(code) == sha256.Size {
			macs = append(macs, code)
		}
	}
	if len(macs) == 0 {
		return proof{}, errMissing
	}
	return proof{result: Result{Content: true}, fits: func(secret string, body []byte) (bool, bool) {
		return anyEqual(mac([]byte(secret), "", body, ""), macs), true
	}}, nil
}

// readStandard reads webhook-id, webhook-timestamp, webhook-signature of Standard
// Webhooks 1.0.0, or the same under Svix's names. v1 is HMAC with a key "whsec_…", v1a is
// ed25519 with a public key "whpk_…".
func readStandard(h http.Header) (proof, error) {
	for _, family := range []string{"Webhook-", "Svix-"} {
		id, stamp := h.Get(family+"Id"), h.Get(family+"Timestamp")
		at := seconds(stamp)
		if id == "" || at.IsZero() {
			continue
		}
		var macs, signed [][]byte
		for _, v := range strings.Fields(strings.Join(h.Values(family+"Signature"), " ")) {
			version, text, _ := strings.Cut(v, ",")
			raw, err := base64.StdEncoding.DecodeString(text)
			switch {
			case err != nil:
			case version == "v1" && len(raw) == sha256.Size:
				macs = append(macs, raw)
			case version == "v1a" && len(raw) == ed25519.SignatureSize:
				signed = append(signed, raw)
			}
		}
		if len(macs)+len(signed) == 0 {
			continue
		}
		prefix := id + "." + stamp + "."
		return proof{result: Result{At: at, ID: id, Content: true}, stamped: true, fits: func(secret string, body []byte) (bool, bool) {
			return standardFits(secret, prefix, body, macs, signed)
		}}, nil
	}
	return proof{}, errMissing
}

func standardFits(secret, prefix string, body []byte, macs, signed [][]byte) (ok, usable bool) {
	if text, public := strings.CutPrefix(secret, "whpk_"); public {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return false, false
		}
		for _, s := range signed {
			ok = ed25519.Verify(key, append([]byte(prefix), body...), s) || ok
		}
		return ok, true
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false, false
	}
	return anyEqual(mac(key, prefix, body, ""), macs), true
}

// readStripe reads Stripe-Signature: t=…,v1=…[,v1=…]; other versions are left out.
func readStripe(h http.Header) (proof, error) {
	var at time.Time
	var prefix string
	var macs [][]byte
	for _, part := range strings.Split(h.Get("Stripe-Signature"), ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			at, prefix = seconds(v), v+"."
		case "v1":
			if code, err := hex.DecodeString(v); err == nil && len(code) == sha256.Size {
				macs = append(macs, code)
			}
		}
	}
	if at.IsZero() || len(macs) == 0 {
		return proof{}, errMissing
	}
	return proof{result: Result{At: at, Content: true}, stamped: true, fits: func(secret string, body []byte) (bool, bool) {
		return anyEqual(mac([]byte(secret), prefix, body, ""), macs), true
	}}, nil
}

// hubSpotDecoded are the escapes of an address that HubSpot writes plainly before it
// signs. The list is from its documentation, read second-hand: an address as it stands is
// accepted too.
var hubSpotDecoded = strings.NewReplacer("%3A", ":", "%3a", ":", "%2F", "/", "%2f", "/", "%3F", "?", "%3f", "?", "%40", "@", "%21", "!", "%24", "$",
	"%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2a", "*", "%2C", ",", "%2c", ",", "%3B", ";", "%3b", ";")

// readHubSpot reads version 3: base64 of the HMAC over method, whole address, body and
// time in milliseconds.
func readHubSpot(m Message) (proof, error) {
	stamp := m.Header.Get("X-HubSpot-Request-Timestamp")
	ms, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || ms <= 0 || ms > 1<<50 {
		return proof{}, errMissing
	}
	var macs [][]byte
	for _, v := range m.Header.Values("X-HubSpot-Signature-v3") {
		if code, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v)); err == nil && len(code) == sha256.Size {
			macs = append(macs, code)
		}
	}
	if len(macs) == 0 {
		return proof{}, errMissing
	}
	return proof{result: Result{At: time.UnixMilli(ms).UTC(), Content: true}, stamped: true, fits: func(secret string, body []byte) (bool, bool) {
		decoded := anyEqual(mac([]byte(secret), m.Method+hubSpotDecoded.Replace(m.URL), body, stamp), macs)
		return anyEqual(mac([]byte(secret), m.Method+m.URL, body, stamp), macs) || decoded, true
	}}, nil
}

// seconds reads a time in whole seconds since 1970; zero = it is none.
func seconds(s string) time.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 1<<40 {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
