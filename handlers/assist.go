package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"holdpoint/connector/assist"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// languages are the readers' languages as a model is told them.
var languages = map[string]string{"en": "English", "ja": "Japanese", "pl": "Polish"}

// suggest asks the language model once, since a person pressed the button, and keeps what
// it says as a suggestion. It changes nothing.
func (s *site) suggest(c echo.Context, at *operationAt, t typed) error {
	purpose := assist.Purpose(t.val("purpose"))
	if s.Assist == nil || !purpose.Valid() {
		return store.ErrNotFound
	}
	b, err := s.builder(c, at.p, t)
	if err != nil {
		return err
	}
	if len(b.causes) == 0 || !b.mayCorrect() {
		return operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	ask := b.ask(purpose)
	_, err = s.Suggest(at.ctx, at.actor, at.p.ID, ask)
	var trouble *assist.Error
	if errors.As(err, &trouble) {
		s.Log.Warn("no suggestion", "id", web.RequestID(c), "operation", string(at.p.ID), "trouble", string(trouble.Trouble), "detail", trouble.Detail)
		t.wrong("", views.Sentence("assist.trouble."+string(trouble.Trouble)))
		return s.showAgain(c, at.p, t)
	}
	return s.answer(c, at.p, t, err, views.FlashSuggested)
}

// Suggest asks the model about an operation and keeps the suggestion. Any page that offers
// a draft (a comment of a case, a paragraph of an incident or a report) asks through it.
// Trouble with the model is an *assist.Error.
func (s *site) Suggest(ctx context.Context, a store.Actor, id operation.ID, ask assist.Ask) (store.Suggestion, error) {
	if s.Assist == nil {
		return store.Suggestion{}, &assist.Error{Trouble: assist.Refused, Detail: "no model is set up"}
	}
	got, err := s.Assist.Suggest(ctx, ask)
	if err != nil {
		return store.Suggestion{}, err
	}
	n := store.Suggestion{Operation: id, Purpose: string(ask.Purpose), Model: got.Model, Class: got.Class, Words: got.Words, By: operation.UserID(a.ID),
		WithContent: s.Assist.SendsContent() && ask.Content != "", Millis: int(got.Took.Milliseconds()), Sent: sentOf(s.Assist.Messages(ask))}
	n.ID, err = s.Store.AddSuggestion(ctx, a, n)
	return n, err
}

func sentOf(list []assist.Message) string {
	var parts []string
	for _, m := range list {
		parts = append(parts, m.Role+": "+m.Content)
	}
	return strings.Join(parts, "\n\n")
}

// sentText is exactly what would be sent about the operation, for the page.
func (s *site) sentText(b panelOf) []string {
	var out []string
	for _, m := range s.Assist.Messages(b.ask(assist.ForClass)) {
		out = append(out, m.Content)
	}
	return out
}

// ask puts the question together: what is known of the stop, by words of the set-up and
// normalised errors. The content goes along where the settings allow it.
func (b panelOf) ask(purpose assist.Purpose) assist.Ask {
	a := assist.Ask{Purpose: purpose, Language: languages[b.lang]}
	add := func(name, value string) {
		if value != "" {
			a.Facts = append(a.Facts, assist.Fact{Name: name, Value: value})
		}
	}
	x := b.causes[0]
	add("destination", b.p.Destination)
	add("action", b.p.OperationSummary.Action)
	add("effect", b.p.EffectType)
	add("state", string(b.p.State))
	add("stopped at", string(x.Pattern.Phase))
	add("error code", x.Pattern.Code)
	if x.Pattern.Status > 0 {
		add("status", strconv.Itoa(x.Pattern.Status))
	}
	add("error, normalised", x.Pattern.Error)
	add("class by the rules", string(x.Pattern.RuleClass))
	add("attempts", strconv.Itoa(b.p.AttemptsEver))
	add("newest lookup", b.p.LastLookup)
	add("others that stopped so", strconv.Itoa(x.Before.Total()))
	add("of these, the effect existed", strconv.Itoa(x.Before.Happened()))
	add("of these, nothing had happened", strconv.Itoa(x.Before.NotHappened()))
	if cur := b.p.Current(); cur != nil {
		if raw, err := json.Marshal(cur.Content()); err == nil {
			a.Content = string(raw)
		}
	}
	return a
}
