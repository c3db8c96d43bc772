package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// AWS Signature Version 4, checked from the published description.

const (
	sigV4Algorithm = "AWS4-HMAC-SHA256"
	sigV4Time      = "20060102T150405Z"
	sigV4Skew      = 5 * time.Minute
)

// sigV4 is what an Authorization header says.
type sigV4 struct {
	keyID, day, region, service string
	signed                      []string // names of the headers, in lower case
	signature                   string
}

func readSigV4(header string) (s sigV4, ok bool) {
	rest, ok := strings.CutPrefix(header, sigV4Algorithm+" ")
	if !ok {
		return s, false
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = v
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" {
		return s, false
	}
	return sigV4{scope[0], scope[1], scope[2], scope[3], strings.Split(fields["SignedHeaders"], ";"), fields["Signature"]}, true
}

// checkSigV4 says what is wrong with a request's signature; "" = nothing.
func checkSigV4(r *http.Request, body []byte, service string, secrets []string, now time.Time) string {
	s, ok := readSigV4(r.Header.Get("Authorization"))
	if !ok {
		return "The Authorization header is no Signature Version 4."
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse(sigV4Time, date)
	switch {
	case err != nil || at.Sub(now).Abs() > sigV4Skew || !strings.HasPrefix(date, s.day):
		return "Signature expired, or its date is not readable."
	case s.service != service:
		return "Credential should be scoped to correct service: '" + service + "'."
	case !slices.Contains(s.signed, "host") || !slices.Contains(s.signed, "x-amz-date") || !slices.IsSorted(s.signed):
		return "'Host' and 'x-amz-date' must be signed headers."
	}
	for _, secret := range secrets {
		if hmac.Equal([]byte(s.of(r, body, secret)), []byte(s.signature)) {
			return ""
		}
	}
	return "The request signature we calculated does not match the signature you provided."
}

// of computes the signature of a request.
func (s sigV4) of(r *http.Request, body []byte, secret string) string {
	sum := func(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
	mac := func(key []byte, text string) []byte {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	var headers strings.Builder
	for _, name := range s.signed {
		v := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			v = r.Host
		case "content-length":
			v = cmpOr(v, text(len(body)))
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(v), " ") + "\n")
	}
	canonical := strings.Join([]string{
		r.Method, pathOf(r.URL), queryOf(r.URL), headers.String(), strings.Join(s.signed, ";"), sum(body),
	}, "\n")
	scope := strings.Join([]string{s.day, s.region, s.service, "aws4_request"}, "/")
	toSign := strings.Join([]string{sigV4Algorithm, r.Header.Get("X-Amz-Date"), scope, sum([]byte(canonical))}, "\n")
	key := mac(mac(mac(mac([]byte("AWS4"+secret), s.day), s.region), s.service), "aws4_request")
	return hex.EncodeToString(mac(key, toSign))
}

// pathOf escapes the path as it was sent once more, as every service but S3 does.
func pathOf(u *url.URL) string {
	segments := strings.Split(cmpOr(u.EscapedPath(), "/"), "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	return strings.Join(segments, "/")
}

func queryOf(u *url.URL) string {
	return strings.ReplaceAll(u.Query().Encode(), "+", "%20")
}
