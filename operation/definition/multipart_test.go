package definition

import (
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdpoint/operation"
)

const multipartProfile = `
destination: post
title: {en: Post}
kind: http
account: a
environment: test
base_url: https://post.example
actions:
  send:
    effect: email
    request:
      method: POST
      path: /messages
      multipart: {to: "${content.to}", text: "${content.text}", "o:tag": [campaign, "{operation_id}"], "v:note": "${content.?note}"}
    outcome: [{confirmed: "${status == 200}"}]
`

func multipartAction(t testing.TB) *Action {
	t.Helper()
	p, err := ParseProfile("post.yaml", []byte(multipartProfile))
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Action("send")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// fieldsRead gives what an independent reader finds in a multipart body.
func fieldsRead(t interface{ Fatal(...any) }, r operation.Request) map[string][]string {
	kind := ""
	for _, h := range r.Header {
		if h.Name == "Content-Type" {
			kind = h.Value
		}
	}
	media, params, err := mime.ParseMediaType(kind)
	if err != nil || media != "multipart/form-data" {
		t.Fatal("content type", kind, err)
	}
	out, parts := map[string][]string{}, multipart.NewReader(strings.NewReader(r.Body), params["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err := io.ReadAll(part)
		if err != nil || part.FileName() != "" || len(part.Header) != 1 {
			t.Fatal(part.Header, err)
		}
		out[part.FormName()] = append(out[part.FormName()], string(value))
	}
}

func TestMultipart_AnyValueStaysInItsField(t *testing.T) {
	a := multipartAction(t)
	id := operation.DeriveID([]byte("x"), operation.Intent{Flow: "f", Stage: "s"})
	hostile := []string{
		"plain", "", "\r\n--part-", "a\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nother@example.test", "--", "\"; name=\"to",
		"{operation_id}", "zażółć\n日本", "--part-0123-0--\r\n", "%EE", "\x00",
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.StringMatching(`(\r\n)?--part-[0-9a-f]{32}-0(--)?\r\n.*`))
		to, text := value.Draw(t, "to"), value.Draw(t, "text")
		v, err := a.Render(map[string]any{"to": to, "text": text}, nil, noon)
		if err != nil {
			t.Skip("content that no request may hold", err)
		}
		sent, err := v.Request.Resolve(map[string]string{operation.HoleOperationID: string(id)})
		if err != nil {
			t.Fatal(err)
		}
		got := fieldsRead(t, sent)
		want := map[string][]string{"to": {operation.Normalize(to)}, "text": {operation.Normalize(text)}, "o:tag": {"campaign", string(id)}}
		if !maps.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("read %q, want %q", got, want)
		}
		again, err := a.Render(map[string]any{"to": to, "text": text}, nil, noon)
		if err != nil || again.Request.Body != v.Request.Body {
			t.Fatal("the same content gave other bytes", err)
		}
	})
}

func TestMultipart_RefusesWhatWouldBreakALine(t *testing.T) {
	for was, now := range map[string]string{
		`"v:note":`:           `"a\"b":`,
		`"o:tag":`:            `"a\r\nb":`,
		`to: "${content.to}"`: `"": "${content.to}"`,
	} {
		if _, err := ParseProfile("post.yaml", []byte(strings.Replace(multipartProfile, was, now, 1))); err == nil {
			t.Errorf("%s was taken", now)
		}
	}
	if _, err := ParseProfile("post.yaml", []byte(strings.Replace(multipartProfile, "path: /messages", "path: /messages\n      text: x", 1))); err == nil {
		t.Error("two bodies were taken")
	}
	_, err := multipartAction(t).Render(map[string]any{"to": map[string]any{"a": "b"}, "text": "x"}, nil, noon)
	var fault *ContentError
	if !errors.As(err, &fault) || !slices.Equal(fault.Fields, []string{"to"}) {
		t.Errorf("an object as a field's value: %v", err)
	}
}

func TestBoundaryIsAnotherWhenAValueHoldsIt(t *testing.T) {
	fields := []multipartField{{"a", "x"}}
	first := boundaryOf(fields)
	if !holdsBoundary([]multipartField{{"b", "--" + first + "--"}}, first) {
		t.Error("a boundary inside a value was not seen")
	}
}
