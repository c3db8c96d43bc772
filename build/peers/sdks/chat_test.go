package sdks

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slacktest"

	"holdpoint/operation"
)

var message = map[string]any{"channel": "C0123456789", "text": "Approved: <!channel> & こんにちは"}

// What slack-go sends as a form, we send too, field by field.
func TestSlackLikeItsLibrary(t *testing.T) {
	s := serve(t, http.StatusOK, map[string]string{"Content-Type": "application/json"}, `{"ok":true,"channel":"C0123456789","ts":"1700000000.000100"}`)
	o := send(t, "slack", "post", message, map[string]string{"SLACK_URL": s.URL})
	o.confirmed(t, "C0123456789:1700000000.000100")
	ours := s.last(t)
	_, ts, err := slack.New(secret, slack.OptionAPIURL(s.URL+"/")).PostMessageContext(context.Background(), "C0123456789",
		slack.MsgOptionText(message["text"].(string), true),
		slack.MsgOptionDisableMarkdown(), slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "holdpoint_operation", EventPayload: map[string]any{"op": o.id}}))
	if err != nil || !strings.HasSuffix(o.result.TargetReference, ts) {
		t.Fatal(ts, err)
	}
	theirs := s.last(t)
	sameWay(t, ours, theirs, "Content-Type")
	a, errA := url.ParseQuery(string(ours.body))
	b, errB := url.ParseQuery(string(theirs.body))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	for _, name := range []string{"channel", "text", "mrkdwn", "unfurl_media"} {
		if a.Get(name) == "" || a.Get(name) != b.Get(name) {
			t.Errorf("%s: ours %q, theirs %q", name, a.Get(name), b.Get(name))
		}
	}
	sameJSON(t, []byte(a.Get("metadata")), []byte(b.Get("metadata")))
}

// slack-go's own server takes our message, and shows it to whoever reads the channel.
func TestSlacksTestServerTakesOurMessage(t *testing.T) {
	s := slacktest.NewTestServer()
	s.Start()
	t.Cleanup(s.Stop)
	reader := s.GetTestRTMInstance()
	go reader.ManageConnection()
	t.Cleanup(func() { _ = reader.Disconnect() })
	next[*slack.ConnectedEvent](t, reader)
	o := send(t, "slack", "post", message, map[string]string{"SLACK_URL": strings.TrimSuffix(s.GetAPIURL(), "/")})
	if o.result.Outcome != operation.OutcomeConfirmed || !strings.HasPrefix(o.result.TargetReference, "C0123456789:") {
		t.Fatalf("%s %+v", o.result.Outcome, o.result)
	}
	if m := next[*slack.MessageEvent](t, reader); m.Text != "Approved: &lt;!channel&gt; &amp; こんにちは" || m.Channel != "C0123456789" {
		t.Errorf("the reader saw %q in %s", m.Text, m.Channel)
	}
}

// next waits for the next event of a kind.
func next[E any](t *testing.T, reader *slack.RTM) E {
	t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case e := <-reader.IncomingEvents:
			if found, ok := e.Data.(E); ok {
				return found
			}
		case <-end:
			t.Fatal("the reader saw nothing")
		}
	}
}
