package definition

import (
	"encoding/json"
	"errors"
	"strings"
)

// The forms of CloudEvents over HTTP, by Content-Type; anything else is binary mode.
const (
	cloudEvent      = "application/cloudevents+json"
	cloudEventBatch = "application/cloudevents-batch+json"
)

// structured reports that a body holds whole events, attributes and data.
func structured(contentType string) bool {
	low := strings.ToLower(strings.TrimSpace(contentType))
	return strings.HasPrefix(low, cloudEvent) || strings.HasPrefix(low, cloudEventBatch)
}

// HoldsSeveral reports whether a body of this content type holds a list of notifications
// for this source. Each of them is judged by itself.
func (s *Source) HoldsSeveral(contentType string) bool {
	if s.Kind == KindCloudEvents {
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), cloudEventBatch)
	}
	return s.items != nil
}

// Items gives the notifications in a body that HoldsSeveral, each as exactly the bytes
// that stand in it. raw has passed DecodeJSON, so that it reads in one way only. Where
// there is no list, the error is a *KeyError.
func (s *Source) Items(raw []byte) ([]json.RawMessage, error) {
	for i, name := range s.items {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil || m[name] == nil {
			return nil, &KeyError{"items", "body." + strings.Join(s.items[:i+1], ".") + " is not there"}
		}
		raw = m[name]
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return nil, &KeyError{"items", "there is no list of notifications"}
	}
	return list, nil
}

// Compared gives what of a notification is compared with an earlier one of the same
// event: all of it but the volatile members.
func (s *Source) Compared(item []byte) ([]byte, error) {
	if len(s.Volatile) == 0 {
		return item, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(item, &m); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) { // no object: it has no members
			return item, nil
		}
		return nil, err
	}
	for _, name := range s.Volatile {
		delete(m, name)
	}
	return json.Marshal(m)
}

// Plain gives a decompressed body as it is decoded: without a byte-order mark, where the
// source permits one.
func (s *Source) Plain(raw []byte) []byte {
	if s.StripBOM {
		return StripBOM(raw)
	}
	return raw
}
