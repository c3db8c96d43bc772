package systems_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
)

const (
	hookPath = "/services/T0001/B0001/hushHushHookToken"
)

// chats are all effects of the profiles that post messages.
func chats(t testing.TB) map[string]connectortest.Harness {
	message := map[string]any{"text": "Approved: <!channel> *campaign* {n} & こんにちは \"quoted\""}
	inChannel := map[string]any{"channel": "C0123456789"}
	card := map[string]any{"title": "Campaign {n}"}
	for k, v := range message {
		inChannel[k], card[k] = v, v
	}
	workflow := shipped(t, "teams", "start_workflow", card, map[string]string{"TEAMS_HOST": "BASE/teams", "TEAMS_URL": "BASE/teams/workflows/hushHushWorkflow01?api-version=1&sig=hushHushSignature"})
	workflow.Bare = true
	return map[string]connectortest.Harness{
		"slack":           shipped(t, "slack", "post", inChannel, map[string]string{"SLACK_URL": "BASE/slack/api", "SLACK_WORKSPACE": "example"}),
		"slack webhook":   shipped(t, "slack-webhook", "post", message, map[string]string{"SLACK_HOOK_HOST": "BASE/slack-webhook", "SLACK_HOOK_URL": "BASE/slack-webhook" + hookPath}),
		"teams workflow":  workflow,
		"teams connector": shipped(t, "teams", "post_connector", card, map[string]string{"TEAMS_HOST": "BASE/teams", "TEAMS_URL": "BASE/teams/webhookb2/hushHushConnector"}),
	}
}

// Every fault of the wire and of the sandbox, at every message, against the ledger.
func TestMessagesUnderEveryFault(t *testing.T) {
	for name, h := range chats(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectortest.Run(t, h)
		})
	}
}

// A webhook's address is used, and stands neither in what is approved nor in what is kept.
func TestAddressesOfWebhooksAreNotShown(t *testing.T) {
	for name, h := range chats(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := connectortest.StartSandbox(t)
			for _, fault := range []string{"", "drop_after_execute", "status_before_execute", "redirect"} {
				o, r := actOnce(t, box, h, fault)
				if shown := fmt.Sprintf("%+v %+v %s", o, r, h.Profile.Auth.Name()); strings.Contains(shown, "hushHush") {
					t.Errorf("%s: the address shows: %s", fault, shown)
				}
			}
			if got := box.Requests(t, h.Sandbox)[0].Path; h.Sandbox != "slack" && !strings.Contains(got, "hushHush") {
				t.Errorf("posted to %s", got)
			}
		})
	}
}

func TestALostMessageIsFoundInTheChannel(t *testing.T) {
	t.Parallel()
	h := chats(t)["slack"]
	a, err := h.Profile.Action(h.Action)
	if err != nil {
		t.Fatal(err)
	}
	findAgain(t, h, a.Protection().LookupLag)
}

// Further pages of the history are read; a channel with more than that is no miss.
func TestTheChannelsHistoryIsReadOverItsPages(t *testing.T) {
	t.Parallel()
	h := chats(t)["slack"]
	box := connectortest.StartSandbox(t)
	o, _ := actOnce(t, box, h, "drop_after_execute")
	c := h.Connect(t, box.URL, nil)
	for range 230 { // a page has 200
		if r := c.Act(context.Background(), h.Order(t, box.URL)); r.Outcome != operation.OutcomeConfirmed {
			t.Fatalf("%+v", r)
		}
	}
	if f := c.Lookup(context.Background(), connectortest.Lookup(o)); f.Result != operation.LookupOne {
		t.Errorf("%+v", f)
	}
}

// Slack says nearly everything in the body of a 200.
func TestSlackErrorsByName(t *testing.T) {
	t.Parallel()
	h := chats(t)["slack"]
	for name, want := range map[string]operation.Outcome{
		"channel_not_found": operation.OutcomeNotStarted, "is_archived": operation.OutcomeNotStarted, "msg_too_long": operation.OutcomeNotStarted,
		"invalid_auth": operation.OutcomeNotStarted, "missing_scope": operation.OutcomeNotStarted, "ratelimited": operation.OutcomeNotStarted,
		"rate_limited": operation.OutcomeNotStarted, "invalid_blocks": operation.OutcomeNotStarted, "restricted_action": operation.OutcomeNotStarted,
		"fatal_error": operation.OutcomeUnknown, "internal_error": operation.OutcomeUnknown, "service_unavailable": operation.OutcomeUnknown,
		"request_timeout": operation.OutcomeUnknown, "duplicate_message_not_found": operation.OutcomeUnknown, "something_new": operation.OutcomeUnknown,
		"": operation.OutcomeUnknown,
	} {
		r := answered(t, h, "200 OK", "Content-Type: application/json\r\n", fmt.Sprintf(`{"ok":false,"error":%q}`, name))
		if r.Outcome != want {
			t.Errorf("%q: %s %+v, want %s", name, r.Outcome, r.Proof, want)
		}
	}
	for body, want := range map[string]operation.Outcome{
		`{"ok":true,"channel":"C1","ts":"1.2"}`: operation.OutcomeConfirmed, `{"ok":true}`: operation.OutcomeUnknown,
		`{"ok":"true","channel":"C1","ts":"1.2"}`: operation.OutcomeUnknown, `{"error":"channel_not_found"}`: operation.OutcomeUnknown,
	} {
		if r := answered(t, h, "200 OK", "Content-Type: application/json\r\n", body); r.Outcome != want {
			t.Errorf("%s: %s %+v, want %s", body, r.Outcome, r.Proof, want)
		}
	}
}

func TestWebhooksAnswerInText(t *testing.T) {
	t.Parallel()
	const refused, unknown, confirmed = operation.OutcomeNotStarted, operation.OutcomeUnknown, operation.OutcomeConfirmed
	all := chats(t)
	for _, c := range []struct {
		chat, status, header, body string
		want                       operation.Outcome
	}{
		{"slack webhook", "200 OK", "", "ok", confirmed},
		{"slack webhook", "200 OK", "", "", unknown},
		{"slack webhook", "200 OK", "", "OK!", unknown},
		{"slack webhook", "404 Not Found", "", "no_service", refused},
		{"slack webhook", "403 Forbidden", "", "invalid_token", refused},
		{"slack webhook", "410 Gone", "", "channel_is_archived", refused},
		{"slack webhook", "404 Not Found", "", "<h1>proxy</h1>", unknown},
		{"slack webhook", "500 Error", "", "rollup_error", unknown},
		{"teams workflow", "202 Accepted", "x-ms-workflow-run-id: 0858\r\n", "", confirmed},
		{"teams workflow", "202 Accepted", "", "", unknown},
		{"teams workflow", "200 OK", "", "1", unknown},
		{"teams workflow", "404 Not Found", "", `{"error":{"code":"WorkflowNotFound"}}`, refused},
		{"teams connector", "200 OK", "", "1", confirmed},
		{"teams connector", "200 OK", "", "", unknown},
		{"teams connector", "200 OK", "", "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413 with ContextId x", refused},
		{"teams connector", "200 OK", "", "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 502 with ContextId x", unknown},
		{"teams connector", "200 OK", "", "Webhook message delivery failed with error: something else", unknown},
		{"teams connector", "202 Accepted", "", "", unknown},
	} {
		if r := answered(t, all[c.chat], c.status, c.header, c.body); r.Outcome != c.want {
			t.Errorf("%s: %s %q: %s %+v, want %s", c.chat, c.status, c.body, r.Outcome, r.Proof, c.want)
		}
	}
}

// answered lets a server answer an order with exactly this.
func answered(t *testing.T, h connectortest.Harness, status, header, body string) operation.Result {
	t.Helper()
	s := connectortest.StartServer(t, false, func(p *connectortest.Peer) {
		p.Read()
		p.Say(connectortest.AnswerText(status, header, body))
	})
	base := "http://" + s.Addr
	return h.Connect(t, base, nil).Act(context.Background(), h.Order(t, base))
}
