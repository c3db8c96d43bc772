package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// routeControl is how the sandbox is told to misbehave and asked what it did.
func (s *sandbox) routeControl(mux *http.ServeMux) {
	mux.HandleFunc("GET /_control/faults", s.controlFaults)
	mux.HandleFunc("POST /_control/faults", s.controlInject)
	mux.HandleFunc("DELETE /_control/faults", s.controlClear)
	mux.HandleFunc("POST /_control/faults/clear", s.controlClear)
	mux.HandleFunc("GET /_control/settings", s.controlSettings)
	mux.HandleFunc("POST /_control/settings", s.controlSet)
	mux.HandleFunc("GET /_control/clock", s.controlClock)
	mux.HandleFunc("POST /_control/clock", s.controlAdvance)
	mux.HandleFunc("GET /_control/ledger", s.controlLedger)
	mux.HandleFunc("GET /_control/requests", s.controlRequests)
	mux.HandleFunc("GET /_control/callbacks", s.controlCallbacks)
	mux.HandleFunc("GET /_control/wait", s.controlWait)
	mux.HandleFunc("POST /_control/deliver", s.controlDeliver)
	mux.HandleFunc("POST /_control/reset", s.controlReset)
}

func (s *sandbox) controlFaults(w http.ResponseWriter, r *http.Request) {
	reply(w, r, http.StatusOK, map[string]any{"faults": s.faults.all()})
}

func (s *sandbox) controlInject(w http.ResponseWriter, r *http.Request) {
	var order faultOrder
	err := readOrder(r, &order)
	var f fault
	if err == nil {
		f, err = newFault(order)
	}
	if err != nil {
		refuseOrder(w, err)
		return
	}
	reply(w, r, http.StatusCreated, s.faults.inject(f))
}

func (s *sandbox) controlClear(w http.ResponseWriter, r *http.Request) {
	id := 0
	if v := r.FormValue("id"); v != "" {
		var err error
		if id, err = strconv.Atoi(v); err != nil {
			refuseOrder(w, fmt.Errorf("id %q is not a number", v))
			return
		}
	}
	reply(w, r, http.StatusOK, map[string]any{"cleared": s.faults.clear(r.FormValue("destination"), id)})
}

func (s *sandbox) controlSettings(w http.ResponseWriter, r *http.Request) {
	reply(w, r, http.StatusOK, s.settings.all())
}

func (s *sandbox) controlSet(w http.ResponseWriter, r *http.Request) {
	var change settingsChange
	err := readOrder(r, &change)
	if err == nil {
		err = change.check()
	}
	if err != nil {
		refuseOrder(w, err)
		return
	}
	s.callbacks.aim(change.CallbackURL, change.CallbackToken)
	reply(w, r, http.StatusOK, s.settings.apply(change))
}

func (s *sandbox) controlClock(w http.ResponseWriter, r *http.Request) {
	reply(w, r, http.StatusOK, map[string]any{
		"now": s.clock.now().Format(time.RFC3339Nano), "advanced": duration{s.clock.advanced()},
	})
}

func (s *sandbox) controlAdvance(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Advance duration `json:"advance"`
	}
	if err := readOrder(r, &order); err != nil {
		refuseOrder(w, err)
		return
	}
	s.clock.advance(order.Advance.Duration)
	s.callbacks.deliverDue()
	s.controlClock(w, r)
}

func (s *sandbox) controlLedger(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	found := s.ledger.list(q.Get("destination"), q.Get("reference"))
	reply(w, r, http.StatusOK, map[string]any{"effects": found, "count": len(found)})
}

func (s *sandbox) controlRequests(w http.ResponseWriter, r *http.Request) {
	destination := r.URL.Query().Get("destination")
	reply(w, r, http.StatusOK, map[string]any{
		"requests": s.requests.of(destination), "count": s.requests.count(destination),
	})
}

func (s *sandbox) controlCallbacks(w http.ResponseWriter, r *http.Request) {
	reply(w, r, http.StatusOK, map[string]any{"callbacks": s.callbacks.all()})
}

// controlWait answers as soon as the ledger holds N effects and N requests have
// come, or at the time-out (default 5s); "reached" tells which.
func (s *sandbox) controlWait(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := duration{5 * time.Second}
	if v := q.Get("timeout"); v != "" {
		if err := limit.set(v); err != nil {
			refuseOrder(w, err)
			return
		}
	}
	wantEffects, wantRequests := queryNumber(q.Get("effects"), 0, 1<<30), queryNumber(q.Get("requests"), 0, 1<<30)
	if wantEffects == 0 && wantRequests == 0 {
		refuseOrder(w, errors.New("say what to wait for: effects=N, requests=N or both"))
		return
	}
	over := time.After(limit.Duration)
	released := s.releasing()
	for {
		changed := s.changed.next()
		effects := len(s.ledger.list(q.Get("destination"), q.Get("reference")))
		requests := s.requests.count(q.Get("destination"))
		reached := effects >= wantEffects && requests >= wantRequests
		waiting := !reached
		if waiting {
			select {
			case <-changed:
			case <-over:
				waiting = false
			case <-released:
				waiting = false
			case <-r.Context().Done():
				return
			}
		}
		if !waiting {
			reply(w, r, http.StatusOK, map[string]any{"reached": reached, "effects": effects, "requests": requests})
			return
		}
	}
}

func (s *sandbox) controlDeliver(w http.ResponseWriter, r *http.Request) {
	var order struct {
		ID        string `json:"id"`
		Reference string `json:"reference"`
		Event     string `json:"event"`
	}
	if err := readOrder(r, &order); err != nil {
		refuseOrder(w, err)
		return
	}
	id := order.ID
	if id == "" && order.Reference != "" {
		if found := s.ledger.list(destMail, order.Reference); len(found) > 0 {
			id = found[len(found)-1].ID
		}
	}
	if id == "" {
		refuseOrder(w, fmt.Errorf("no mail with id %q or reference %q; give one of them", order.ID, order.Reference))
		return
	}
	sent, err := s.callbacks.deliver(r.Context(), id, order.Event)
	if err != nil {
		refuseOrder(w, err)
		return
	}
	reply(w, r, http.StatusOK, sent)
}

func (s *sandbox) controlReset(w http.ResponseWriter, r *http.Request) {
	s.reset()
	reply(w, r, http.StatusOK, map[string]any{"reset": true})
}

// fromForm tells whether the page's buttons sent this request. The Accept header
// tells them from curl, which calls JSON a form unless told otherwise.
func fromForm(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Method == http.MethodPost && kind == "application/x-www-form-urlencoded" &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// readOrder reads a JSON object, or a form with the same field names, into v.
// Unknown fields are refused, so that a misspelt one is not silently without effect.
func readOrder(r *http.Request, v any) error {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return err
	}
	if fromForm(r) {
		if raw, err = formAsJSON(string(raw)); err != nil {
			return err
		}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%w; the body is one JSON object with the fields %s", err, strings.Join(fieldsOf(v), ", "))
	}
	if dec.More() {
		return errors.New("the body holds more than one JSON value")
	}
	return nil
}

// formAsJSON turns the page's form into the JSON it stands for. Empty fields
// count as absent; times and status are numbers.
func formAsJSON(body string) ([]byte, error) {
	fields, _, err := parseForm(body)
	if err != nil {
		return nil, err
	}
	for name, v := range fields {
		switch {
		case v == "":
			delete(fields, name)
		case name == "times" || name == "status":
			n, err := strconv.Atoi(text(v))
			if err != nil {
				return nil, fmt.Errorf("%s %q is not a number", name, v)
			}
			fields[name] = n
		}
	}
	return json.Marshal(fields)
}

// fieldsOf lists the JSON names of a struct's fields.
func fieldsOf(v any) []string {
	t := reflect.TypeOf(v).Elem()
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// reply answers with JSON; a button of the page goes back to the page.
func reply(w http.ResponseWriter, r *http.Request, status int, v any) {
	if fromForm(r) {
		back := "/"
		if strings.HasPrefix(r.URL.Path, "/_control/faults") {
			back = "/#faults"
		}
		http.Redirect(w, r, back, http.StatusSeeOther)
		return
	}
	a := jsonAnswer(status, v)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func refuseOrder(w http.ResponseWriter, err error) {
	a := jsonAnswer(http.StatusBadRequest, map[string]any{"error": err.Error()})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
