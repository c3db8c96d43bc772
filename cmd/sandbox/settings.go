package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// duration is written as text such as "2s" or "25h".
type duration struct{ time.Duration }

func (d duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

func (d *duration) UnmarshalJSON(raw []byte) error {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("a duration is text such as \"2s\" or \"25h\", not %s", raw)
	}
	return d.set(s)
}

func (d *duration) set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a duration; write for example \"2s\" or \"25h\"", s)
	}
	if v < 0 {
		return fmt.Errorf("the duration %q is negative", s)
	}
	d.Duration = v
	return nil
}

// destinationSettings are the settable habits of one destination.
type destinationSettings struct {
	// Retention is how long an Idempotency-Key protects, from its first use.
	Retention duration `json:"retention"`
	// IndexLag is how long a new effect stays hidden from the search.
	IndexLag duration `json:"index_lag"`
	// AutoDeliver is how long after acceptance a mail is delivered by itself; 0 = never.
	AutoDeliver duration `json:"auto_deliver"`
}

// settingsChange is the body of POST /_control/settings; an absent field stays.
type settingsChange struct {
	Destination string    `json:"destination"`
	Retention   *duration `json:"retention"`
	IndexLag    *duration `json:"index_lag"`
	AutoDeliver *duration `json:"auto_deliver"`
	// CallbackURL and CallbackToken replace the flags of these names; a reset keeps them.
	CallbackURL   *string `json:"callback_url"`
	CallbackToken *string `json:"callback_token"`
}

func (ch settingsChange) check() error {
	if err := checkDestination(ch.Destination); err != nil {
		return err
	}
	d, _ := systemOf(ch.Destination)
	keyed, searched := func(d system) bool { return d.keyed }, func(d system) bool { return d.searched }
	has := func(names ...string) bool { return slices.Contains(names, ch.Destination) }
	switch {
	case ch.Retention != nil && !d.keyed:
		return fmt.Errorf("%s has no idempotency keys, so no retention; %s have", d.name, strings.Join(systemNames(keyed), ", "))
	case ch.IndexLag != nil && !d.searched:
		return fmt.Errorf("%s has no search, so no index_lag; %s have", d.name, strings.Join(systemNames(searched), ", "))
	case ch.AutoDeliver != nil && !has(destMail):
		return fmt.Errorf("auto_deliver belongs to mail, not to %s", ch.Destination)
	case (ch.CallbackURL != nil || ch.CallbackToken != nil) && !has(destMail):
		return fmt.Errorf("callback_url and callback_token belong to mail, not to %s", ch.Destination)
	case ch.Retention == nil && ch.IndexLag == nil && ch.AutoDeliver == nil && ch.CallbackURL == nil && ch.CallbackToken == nil:
		return fmt.Errorf("nothing to set: give retention, index_lag, auto_deliver, callback_url or callback_token")
	}
	return nil
}

// settings holds every destination's settings.
type settings struct {
	mu     sync.Mutex
	values map[string]destinationSettings
}

func newSettings() *settings {
	s := &settings{}
	s.reset()
	return s
}

func (s *settings) of(destination string) destinationSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[destination]
}

func (s *settings) all() map[string]destinationSettings {
	out := map[string]destinationSettings{}
	for _, d := range systemNames(nil) {
		out[d] = s.of(d)
	}
	return out
}

func (s *settings) apply(ch settingsChange) destinationSettings {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.values[ch.Destination]
	if ch.Retention != nil {
		v.Retention = *ch.Retention
	}
	if ch.IndexLag != nil {
		v.IndexLag = *ch.IndexLag
	}
	if ch.AutoDeliver != nil {
		v.AutoDeliver = *ch.AutoDeliver
	}
	s.values[ch.Destination] = v
	return v
}

func (s *settings) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values = map[string]destinationSettings{}
	for _, d := range systems {
		s.values[d.name] = d.habits
	}
}
