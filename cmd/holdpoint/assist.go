package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"holdpoint/connector/assist"
	"holdpoint/connector/order"
)

// Assist are the settings of the language model that may be asked for suggestions.
type Assist struct {
	URL     string        `name:"assist-url" env:"HOLDPOINT_ASSIST_URL" help:"Base address of a language model that speaks the chat protocol of OpenAI, such as https://models.example/v1. It is asked only when a person presses a button, and decides nothing. Empty = off: nothing is sent anywhere." group:"Language model"`
	Model   string        `name:"assist-model" env:"HOLDPOINT_ASSIST_MODEL" help:"Name of the model, as the endpoint knows it. It is shown beside each suggestion." group:"Language model"`
	KeyRef  string        `name:"assist-key-ref" env:"HOLDPOINT_ASSIST_KEY_REF" help:"Where the endpoint's key is: env:NAME or file:PATH. It is read anew at every use. Empty = none is sent." group:"Language model"`
	Timeout time.Duration `name:"assist-timeout" env:"HOLDPOINT_ASSIST_TIMEOUT" default:"20s" help:"How long one answer may take, two minutes at most." group:"Language model"`
	Local   bool          `name:"assist-local" env:"HOLDPOINT_ASSIST_LOCAL" help:"The endpoint may be on this machine or in a private network, and reached without TLS. Otherwise only public addresses are reached." group:"Language model"`
	Content bool          `name:"assist-content" env:"HOLDPOINT_ASSIST_CONTENT" help:"The content of an operation may be sent along, masked as evidence is. Without this, no content and no title leaves." group:"Language model"`
}

// client gives the client of the settings; nil = off.
func (a *Assist) client() (*assist.Client, error) {
	if a.URL == "" {
		if a.Model != "" || a.KeyRef != "" {
			return nil, fmt.Errorf("HOLDPOINT_ASSIST_URL is missing: the other settings of the language model mean nothing without it")
		}
		return nil, nil
	}
	s := assist.Settings{URL: a.URL, Model: a.Model, Timeout: a.Timeout, Local: a.Local, Content: a.Content}
	if a.KeyRef != "" {
		kind, value, _ := strings.Cut(a.KeyRef, ":")
		var ref order.Ref
		switch {
		case kind == "env" && value != "":
			ref.Env = value
		case kind == "file" && value != "":
			ref.File = value
		default:
			return nil, fmt.Errorf("HOLDPOINT_ASSIST_KEY_REF is neither env:NAME nor file:PATH")
		}
		s.Key = func() (string, error) { return ref.Read(os.LookupEnv) }
		if _, err := s.Key(); err != nil {
			return nil, fmt.Errorf("HOLDPOINT_ASSIST_KEY_REF: %w", err)
		}
	}
	c, err := assist.New(s)
	if err != nil {
		return nil, fmt.Errorf("HOLDPOINT_ASSIST_URL: %w", err)
	}
	return c, nil
}
