package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
	"holdpoint/store"
)

// PostCallback takes what a destination says later, in our form or a mail provider's.
// What belongs to no operation that is known waits for one, as at /cb/{destination}.
func (s *server) PostCallback(ctx context.Context, r PostCallbackRequestObject) (PostCallbackResponseObject, error) {
	k := callOf(ctx)
	profile, _, err := s.Store.Profile(ctx, r.Destination)
	if err != nil {
		return nil, err
	}
	n, err := readNews(k.body)
	if err != nil {
		return nil, err
	}
	place, err := s.placeOfNews(ctx, r.Destination, n)
	if err = k.reach(place, err); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	c := store.Callback{Operation: place.Operation, Destination: r.Destination, Names: operation.ID(n.operation), Kind: operation.NewsKind(n.kind),
		Reference: n.reference, URL: n.url, Body: outbound.Excerpt(k.body)}
	if err == nil {
		if place.Destination != r.Destination {
			return nil, &fault{http.StatusNotFound, "not_found", "The operation has its effect at another destination."}
		}
		if err := s.Store.RecordCallback(ctx, k.actor, c); err != nil {
			return nil, err
		}
		return PostCallback200JSONResponse{Recorded: true, Operation: optional(string(place.Operation))}, nil
	}
	if !k.actor.ReachesAll(r.Destination) {
		return nil, &fault{http.StatusNotFound, "not_found", "There is no such operation that this token may see. To keep news until its operation is known, a token is needed that is limited to no flow and reaches this destination."}
	}
	if err := s.Store.HoldCallback(ctx, k.actor, profile.Account, c); err != nil {
		return nil, err
	}
	waits := true
	return PostCallback200JSONResponse{Recorded: true, Waiting: &waits}, nil
}

func (s *server) placeOfNews(ctx context.Context, destination string, n news) (store.Place, error) {
	if n.operation != "" {
		return s.Store.PlaceOf(ctx, operation.ID(n.operation))
	}
	return s.Store.PlaceOfReference(ctx, destination, n.reference)
}

// news is what a callback says.
type news struct {
	kind, operation, reference, url string
}

// providerKinds gives our word for a mail provider's event.
var providerKinds = map[string]string{"sent": "effect", "delivered": "delivered", "bounced": "bounced", "complained": "complained"}

func readNews(body []byte) (news, error) {
	var b struct {
		Kind      string `json:"kind"`
		Operation string `json:"operation"`
		Reference string `json:"reference"`
		URL       string `json:"url"`
		Type      string `json:"type"`
		Data      struct {
			ID   string          `json:"email_id"`
			Tags json.RawMessage `json:"tags"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return news{}, badRequest("invalid", "A member has the wrong type.")
	}
	n := news{kind: b.Kind, operation: b.Operation, reference: b.Reference, url: safeLink(b.URL)}
	if b.Kind == "" {
		event, ok := strings.CutPrefix(b.Type, "email.")
		if !ok {
			return n, unprocessable("kind", "The callback says neither kind nor a type that is known.")
		}
		n = news{kind: or(providerKinds[event], "news"), operation: string(operation.FindID(tagged(b.Data.Tags))), reference: b.Data.ID}
	} else if n.operation != "" && string(operation.FindID(n.operation)) != n.operation {
		return n, unprocessable("operation", "operation is not the ID of an operation.")
	}
	switch n.kind {
	case "effect", "delivered", "bounced", "complained", "news":
	default:
		return n, unprocessable("kind", "kind is effect, delivered, bounced, complained or news.")
	}
	if n.operation == "" && n.reference == "" {
		return n, unprocessable("reference", "The callback names neither an operation nor a reference.")
	}
	if n.reference != "" && !referencePattern.MatchString(n.reference) {
		return n, unprocessable("reference", "A target reference has no spaces and no control characters.")
	}
	return n, nil
}

// tagged finds our operation's ID among a mail's tags, which providers give as an
// object or as a list of names and values.
func tagged(raw json.RawMessage) string {
	var byName map[string]any
	if json.Unmarshal(raw, &byName) == nil {
		id, _ := byName["operation_id"].(string)
		return id
	}
	var list []struct{ Name, Value string }
	if json.Unmarshal(raw, &list) == nil {
		for _, t := range list {
			if t.Name == "operation_id" {
				return t.Value
			}
		}
	}
	return ""
}
