package main

import (
	"encoding/json"
	"net/http"
)

// Plain is the worst case: it takes anything, protects nothing, and cannot be
// asked. Its ledger is the only way to know what it did.

const effectThing = "thing"

var plainAPI = api{failure: func(status int, message string) answer {
	return jsonAnswer(status, map[string]any{"error": message})
}}

func (s *sandbox) routePlain(mux *http.ServeMux) {
	mux.HandleFunc("POST /plain/things", s.endpoint(destPlain, onEffect, createThing))
	// Where the redirect fault points. It answers as if all were well, so that a
	// caller who follows a redirect is found out: the request is in the log, and
	// one with a body is an effect at the wrong place.
	mux.HandleFunc("/elsewhere/", s.endpoint(destElsewhere, onEffect, createThing))
}

func createThing(c *call) answer {
	return c.execute(func() answer {
		id := c.sandbox.ledger.nextID("THG", "-")
		status := http.StatusCreated
		if c.destination == destElsewhere {
			status = http.StatusOK
		}
		if c.destination == destPlain || len(c.body) > 0 {
			e := effect{
				Destination: c.destination, Effect: effectThing, ID: id, Key: c.key,
				RequestHash: hashOf(c.body), Time: c.now(), Fields: map[string]any{"body": keepBody(c.body)},
			}
			var body map[string]any
			if json.Unmarshal(c.body, &body) == nil {
				e.Reference, _ = body["reference"].(string)
			}
			c.sandbox.ledger.add(e, uniqueNothing)
		}
		return executed(jsonAnswer(status, map[string]any{"id": id}))
	})
}
