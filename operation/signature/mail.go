package signature

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
)

// readSendGrid reads the Event Webhook's ECDSA signature over SHA-256 of time and raw
// body. The secret is the public key that SendGrid shows: base64 of its PKIX form.
func readSendGrid(h http.Header) (proof, error) {
	stamp := h.Get("X-Twilio-Email-Event-Webhook-Timestamp")
	at := seconds(stamp)
	der, err := base64.StdEncoding.DecodeString(h.Get("X-Twilio-Email-Event-Webhook-Signature"))
	if err != nil || len(der) == 0 || at.IsZero() {
		return proof{}, errMissing
	}
	return proof{result: Result{At: at, Content: true}, stamped: true, fits: func(secret string, body []byte) (bool, bool) {
		key := publicKey(secret)
		if key == nil {
			return false, false
		}
		d := sha256.New()
		d.Write([]byte(stamp))
		d.Write(body)
		return ecdsa.VerifyASN1(key, d.Sum(nil), der), true
	}}, nil
}

// publicKey reads a key of the curve P-256, as PEM or as bare base64; nil = it is none.
func publicKey(text string) *ecdsa.PublicKey {
	text = strings.TrimSpace(text)
	var der []byte
	if block, _ := pem.Decode([]byte(text)); block != nil {
		der = block.Bytes
	} else if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
		der = raw
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil
	}
	k, ok := key.(*ecdsa.PublicKey)
	if !ok || k.Curve != elliptic.P256() {
		return nil
	}
	return k
}

// readMailgun reads the signature member of the body: hex of the HMAC over time and
// token. The event's own data is NOT signed. Whoever has seen one signature could put it
// beside other data, so the token must be taken once only: Result.Token.
func readMailgun(m Message) (proof, error) {
	for _, body := range m.Bodies {
		var b map[string]json.RawMessage
		var raw map[string]any
		if json.Unmarshal(body, &b) != nil || json.Unmarshal(b["signature"], &raw) != nil {
			continue
		}
		stamp, token, code := text(raw["timestamp"]), text(raw["token"]), text(raw["signature"])
		have, err := hex.DecodeString(code)
		at := seconds(stamp)
		if err != nil || len(have) != sha256.Size || token == "" || len(token) > 200 || at.IsZero() {
			continue
		}
		return proof{result: Result{At: at, Token: token}, stamped: true, body: body, fits: func(secret string, _ []byte) (bool, bool) {
			return anyEqual(mac([]byte(secret), stamp+token, nil, ""), [][]byte{have}), true
		}}, nil
	}
	return proof{}, errMissing
}

// text gives a JSON text, or a whole number as text.
func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		if b, err := json.Marshal(int64(x)); err == nil && x == float64(int64(x)) {
			return string(b)
		}
	}
	return ""
}

// readBasic reads user and password. Nothing of the body is covered.
func readBasic(h http.Header) (proof, error) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return proof{}, errMissing
	}
	r := http.Request{Header: http.Header{"Authorization": values}}
	user, password, ok := r.BasicAuth()
	if !ok {
		return proof{}, errMissing
	}
	return equals(user+":"+password, func(secret string) bool {
		u, p, two := strings.Cut(secret, ":")
		return two && u != "" && p != ""
	}), nil
}

// readHeader reads a fixed secret from a header. Nothing of the body is covered.
func readHeader(r Rule, h http.Header) (proof, error) {
	values := h.Values(r.Header)
	if len(values) != 1 || values[0] == "" {
		return proof{}, errMissing
	}
	return equals(values[0], func(secret string) bool { return secret != "" }), nil
}

// equals compares digests, so that not even the length shows.
func equals(have string, usable func(string) bool) proof {
	sum := sha256.Sum256([]byte(have))
	return proof{fits: func(secret string, _ []byte) (bool, bool) {
		want := sha256.Sum256([]byte(secret))
		same := subtle.ConstantTimeCompare(want[:], sum[:]) == 1
		return same && usable(secret), usable(secret)
	}}
}
