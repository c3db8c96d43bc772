package definition

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

const newsProfile = `destination: post
title: {en: Post}
kind: http
account: shop-1
environment: live
base_url: https://api.example.com
auth: {bearer: {env: KEY}}
callbacks:
  signature: {scheme: sendgrid}
  secrets: [{env: PUBLIC_KEY}]
  items: ${body}
  ours: ${!has(item.account) || string(item.account) == account}
  dedupe: ${item.sg_event_id}
  operation: ${item.?operation_id}
  reference: ${item.sg_message_id.split(".")[0]}
  url: ${"https://example.com/" + env("PLACE") + "/" + item.sg_message_id}
  time: ${item.timestamp}
  news:
    - {ignored: '${item.event in ["open", "click"]}'}
    - {accepted: '${item.event == "processed"}'}
    - {delivered: '${item.event == "delivered"}'}
    - {bounced: '${item.event == "bounce" && item.?type.orValue("bounce") != "blocked"}'}
    - {dropped: '${item.event == "dropped"}'}
  within: 48h
actions:
  send:
    effect: email
    request: {method: POST, path: /send, json: {}}
    outcome: [{confirmed: '${status == 202}'}]
`

func TestCallbackNews(t *testing.T) {
	t.Parallel()
	p, err := ParseProfile("post.yaml", []byte(newsProfile))
	if err != nil {
		t.Fatal(err)
	}
	c := p.Callbacks
	if c.Within != 48*time.Hour || c.Rule.Tolerance != DefaultTolerance || c.Body != DefaultCallbackBody {
		t.Errorf("%+v", c)
	}
	id := "op_" + strings.Repeat("0", 25) + "7"
	body, err := DecodeJSON([]byte(`[
		{"event":"delivered","sg_event_id":"e1","sg_message_id":"m1.filter","timestamp":1600112492,"operation_id":"` + id + `"},
		{"event":"bounce","type":"bounce","sg_event_id":"e2","timestamp":1600112492123,"operation_id":"<` + id + `@mail.example.com>"},
		{"event":"open","sg_event_id":"e3"},
		{"event":"delivered","sg_event_id":"e4","account":"shop-2"},
		{"event":"group_unsubscribe","sg_event_id":12345678901234567890,"sg_message_id":"m2","timestamp":"2020-09-14T19:41:32Z","operation_id":"` + id + ` ` + id[:28] + `8"},
		{"event":"dropped"},
		"text"]`))
	if err != nil {
		t.Fatal(err)
	}
	items, err := c.Entries(http.Header{}, body)
	if err != nil || items.Len() != 7 {
		t.Fatal(items, err)
	}
	at := time.Unix(1600112492, 0).UTC()
	env := func(string) (string, bool) { return "place", true }
	for i, want := range []News{
		{Key: "e1", Kind: operation.NewsDelivered, Operation: operation.ID(id), Reference: "m1", URL: "https://example.com/place/m1.filter", At: at},
		{Key: "e2", Kind: operation.NewsBounced, Operation: operation.ID(id), At: at.Add(123 * time.Millisecond)},
		{Kind: operation.NewsIgnored},
		{Kind: operation.NewsIgnored},
		{Key: "12345678901234567890", Kind: operation.NewsPlain, Reference: "m2", URL: "https://example.com/place/m2", At: at},
	} {
		got, err := items.Read(i, env)
		got.Item = ""
		if err != nil || got != want {
			t.Errorf("entry %d: %+v, want %+v, %v", i, got, want, err)
		}
	}
	for _, i := range []int{5, 6} {
		if got, err := items.Read(i, env); err == nil {
			t.Errorf("entry %d without a key is read: %+v", i, got)
		}
	}
	for _, other := range []string{`{}`, `"x"`, `null`} {
		v, err := DecodeJSON([]byte(other))
		if err == nil {
			_, err = c.Entries(http.Header{}, v)
		}
		if err == nil {
			t.Errorf("%s is taken for a list", other)
		}
	}
}

func TestCallbackWithoutAKeyIsKnownByItsBytes(t *testing.T) {
	t.Parallel()
	p, err := ParseProfile("post.yaml", []byte(strings.Replace(newsProfile, "  dedupe: ${item.sg_event_id}\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	both, err := p.Callbacks.Entries(nil, []any{map[string]any{"event": "delivered"}, map[string]any{"event": "delivered", "x": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := both.Read(0, nil)
	b, _ := both.Read(1, nil)
	if err != nil || a.Key == b.Key || !strings.HasPrefix(a.Key, "sha256:") {
		t.Errorf("%q %q %v", a.Key, b.Key, err)
	}
}

func TestCallbackFaults(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ old, new, field string }{
		{"scheme: sendgrid", "scheme: hmac_sha256", "callbacks.signature.header"},
		{"scheme: sendgrid", "scheme: stripe, header: X", "callbacks.signature.header"},
		{"scheme: sendgrid", "scheme: sns", "callbacks.topics"},
		{"scheme: sendgrid", "scheme: none", "callbacks.signature.scheme"},
		{"  secrets: [{env: PUBLIC_KEY}]\n", "", "callbacks.secrets"},
		{"  within: 48h", "  topics: ['arn:aws:sns:eu-west-1:123456789012:x']", "callbacks.topics"},
		{`- {accepted: '${item.event == "processed"}'}`, `- {accepted: '${item.event == "processed"}', delivered: '${true}'}`, "callbacks.news"},
		{"time: ${item.timestamp}", "time: ${content.x}", "callbacks.time"},
		{"dedupe: ${item.sg_event_id}", "dedupe: '${env(\"SECRET\")}'", "callbacks.dedupe"},
		{"  operation: ${item.?operation_id}\n  reference: ${item.sg_message_id.split(\".\")[0]}\n", "", "callbacks"},
	} {
		src := strings.Replace(newsProfile, x.old, x.new, 1)
		if src == newsProfile {
			t.Fatalf("%q is not in the profile", x.old)
		}
		if _, err := ParseProfile("post.yaml", []byte(src)); err == nil || !strings.Contains(err.Error(), x.field) {
			t.Errorf("%s: %v, want a fault at %s", x.new, err, x.field)
		}
	}
}

func TestFindID(t *testing.T) {
	t.Parallel()
	id := "op_0123456789abcdefghjkmnpqrs"
	for text, want := range map[string]string{id: id, "<" + id + "@example.com>": id, id + "@example.com": id, "op:" + id + ";" + id: id, "x" + id: "", id + "0": "",
		"": "", "op_short": "", id + " op_1123456789abcdefghjkmnpqrs": ""} {
		if got := operation.FindID(text); string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
