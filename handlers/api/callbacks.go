package api

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
	"holdpoint/store"
)

// PostCallback takes what a destination says later, in our form or a mail provider's.
func (s *server) PostCallback(ctx context.Context, r PostCallbackRequestObject) (PostCallbackResponseObject, error) {
	k := callOf(ctx)
	if _, _, err := s.Store.Profile(ctx, r.Destination); err != nil {
		return nil, err
	}
	n, err := readNews(k.body)
	if err != nil {
		return nil, err
	}
	place, err := s.placeOfNews(ctx, r.Destination, n)
	if err == nil && place.Destination != r.Destination {
		err = store.ErrNotFound
	}
	err = k.reach(place, err)
	if errors.Is(err, store.ErrNotFound) && n.provider {
		// The provider's account may send mails that are not ours; a refusal would make
		// it switch its callbacks off (FC-10).
		return PostCallback200JSONResponse{Recorded: false}, nil
	}
	if err != nil {
		return nil, err
	}
	err = s.Store.RecordCallback(ctx, k.actor, store.Callback{Operation: place.Operation, Destination: r.Destination, Kind: operation.NewsKind(n.kind),
		Reference: n.reference, URL: n.url, Body: outbound.Excerpt(k.body)})
	if err != nil {
		return nil, err
	}
	return PostCallback200JSONResponse{Recorded: true, Operation: optional(string(place.Operation))}, nil
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
	provider                        bool // a provider's own form
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
		n = news{kind: or(providerKinds[event], "news"), operation: tagged(b.Data.Tags), reference: b.Data.ID, provider: true}
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
