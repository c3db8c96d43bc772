package main

import (
	"net/http"
)

// Microsoft Teams: a workflow's webhook answers 202 and names a run, an old
// connector 200 with the body 1, and tells of failures inside a 200. No keys and
// nothing to ask.

const (
	destTeams = "teams"
	cardLimit = 28 << 10 // bytes of a whole message
)

func teamsFailure(status int, message string) answer {
	return jsonAnswer(status, map[string]any{"error": map[string]any{"code": "Failure", "message": message}})
}

func (s *sandbox) routeTeams(mux *http.ServeMux) {
	mux.HandleFunc("POST /teams/workflows/{id}", s.endpoint(destTeams, onEffect, runTeams))
	mux.HandleFunc("POST /teams/webhookb2/{id}", s.endpoint(destTeams, onEffect, connectTeams))
}

type teamsOrder struct {
	Type        string `json:"type"`
	Attachments []struct {
		ContentType string         `json:"contentType"`
		Content     map[string]any `json:"content"`
	} `json:"attachments"`
}

// card gives the message's card; nil = it has none.
func (c *call) card() map[string]any {
	var o teamsOrder
	if strictJSON(c.body, &o) != nil || o.Type != "message" || len(o.Attachments) != 1 {
		return nil
	}
	a := o.Attachments[0]
	if a.ContentType != "application/vnd.microsoft.card.adaptive" || a.Content["type"] != "AdaptiveCard" || a.Content["version"] == nil {
		return nil
	}
	return a.Content
}

func (c *call) keepCard(kind, id string, card map[string]any) {
	c.sandbox.ledger.add(effect{
		Destination: destTeams, Effect: kind, ID: id, Reference: operationIn.FindString(string(c.body)), Key: c.key, RequestHash: hashOf(c.body), Time: c.now(),
		Fields: map[string]any{"card": card},
	}, uniqueNothing)
}

func runTeams(c *call) answer {
	card := c.card()
	switch {
	case c.request.URL.Query().Get("sig") == "":
		return teamsFailure(http.StatusUnauthorized, "The request must be authenticated by its signature.")
	case card == nil:
		return teamsFailure(http.StatusBadRequest, "The body does not fit the trigger's schema.")
	case len(c.body) > cardLimit:
		return teamsFailure(http.StatusRequestEntityTooLarge, "The card is larger than 28 KB.")
	}
	return c.execute(func() answer {
		id := c.sandbox.ledger.nextID("run", "-")
		c.keepCard(effectCard, id, card)
		return executed(answer{status: http.StatusAccepted, header: http.Header{"X-Ms-Workflow-Run-Id": {id}}})
	})
}

func connectTeams(c *call) answer {
	card := c.card()
	if card == nil {
		return plainText(http.StatusBadRequest, "Summary or Text is required.")
	}
	if len(c.body) > cardLimit {
		return plainText(http.StatusOK, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 413 with ContextId tcid=0")
	}
	return c.execute(func() answer {
		c.keepCard(effectMessage, c.sandbox.ledger.nextID("card", "-"), card)
		return executed(plainText(http.StatusOK, "1"))
	})
}
