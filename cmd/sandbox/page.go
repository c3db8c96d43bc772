package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"clock":  func(t time.Time) string { return t.Format("2 Jan 15:04:05") },
	"iso":    func(t time.Time) string { return t.Format(time.RFC3339Nano) },
	"pieces": pieces,
	"title":  titleOf,
}).ParseFS(assets, "assets/*.html"))

func titleOf(destination string) string {
	d, _ := systemOf(destination)
	return d.title
}

func (s *sandbox) routePage(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.showPage)
	mux.HandleFunc("GET /assets/page.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, assets, "assets/page.css")
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		reply(w, r, http.StatusOK, map[string]any{"ok": true})
	})
	for _, d := range append(systemNames(nil), destElsewhere) {
		mux.HandleFunc("GET /"+d+"/view/{id}", s.showEffect(d))
	}
}

// pageView is the start page: what exists, what will go wrong, what was received.
type pageView struct {
	Now      time.Time
	Advanced duration
	Refresh  int // seconds; 0 = off
	SMTP     string
	Filter   string // what the ledger is narrowed to, in words; empty = all
	Counts   []countView
	Rows     []effectRow
	More     int // effects that are older than those shown
	Faults   []faultRow
	Buttons  []faultButton
	Requests []request
}

// countView is how many effects exist at a destination.
type countView struct {
	Destination string
	Effects     int
	Requests    int
}

// effectRow is one line of the ledger. Same counts the living effects with the
// same reference: one is right, two is a double effect.
type effectRow struct {
	effect
	What string
	Same int
}

// faultRow is an injected fault that still waits.
type faultRow struct {
	fault
	Words string
	Left  string
}

// faultButton offers one common fault for each destination that knows it.
type faultButton struct {
	Title  string
	Words  string
	Fault  string
	Status int
	Delay  string
	Places []string
}

const shownRows = 60

func (s *sandbox) showPage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := pageView{
		Now: s.clock.now(), Advanced: duration{s.clock.advanced()}, SMTP: s.smtpAddr(),
		Refresh: queryNumber(q.Get("refresh"), 0, 60), Buttons: faultButtons(),
		Filter: strings.Join(strings.Fields(titleOf(q.Get("destination"))+" "+q.Get("reference")), ", "),
	}
	for _, d := range systemNames(nil) {
		v.Counts = append(v.Counts, countView{Destination: d, Requests: s.requests.count(d)})
	}
	v.countEffects(s.ledger.list("", ""))
	v.fillRows(s.ledger.list(q.Get("destination"), q.Get("reference")))
	for _, f := range s.faults.all() {
		kind, _ := faultKindOf(f.Fault)
		left := "until reset"
		if f.Times > 0 {
			left = strconv.Itoa(f.Times-f.Used) + " more"
		}
		v.Faults = append(v.Faults, faultRow{f, kind.words, left})
	}
	v.Requests = s.requests.of("")
	slices.Reverse(v.Requests)
	v.Requests = v.Requests[:min(len(v.Requests), shownRows)]
	s.render(w, "page.html", v)
}

// countEffects counts the living effects per destination.
func (v *pageView) countEffects(effects []effect) {
	living := map[string]int{}
	for _, e := range effects {
		if !e.Deleted {
			living[e.Destination]++
		}
	}
	for i := range v.Counts {
		v.Counts[i].Effects = living[v.Counts[i].Destination]
	}
}

// fillRows lists the newest effects first and counts those that share a reference.
func (v *pageView) fillRows(effects []effect) {
	type name struct{ destination, kind, reference string }
	same := map[name]int{}
	for _, e := range effects {
		if !e.Deleted {
			same[name{e.Destination, e.Effect, e.Reference}]++
		}
	}
	slices.Reverse(effects)
	for _, e := range effects[:min(len(effects), shownRows)] {
		row := effectRow{effect: e, What: whatItIs(e)}
		if e.Reference != "" {
			row.Same = same[name{e.Destination, e.Effect, e.Reference}]
		}
		v.Rows = append(v.Rows, row)
	}
	v.More = len(effects) - len(v.Rows)
}

// whatItIs gives the one field by which a person recognises an effect.
func whatItIs(e effect) string {
	for _, name := range []string{"subject", "name", "description", "customer", "body"} {
		if s := text(e.Fields[name]); s != "" {
			if runes := []rune(s); len(runes) > 80 {
				return string(runes[:79]) + "…"
			}
			return s
		}
	}
	return ""
}

func faultButtons() []faultButton {
	buttons := []faultButton{
		{Title: "Answer lost", Fault: faultStallAfter},
		{Title: "Connection lost after the effect", Fault: faultDropAfter},
		{Title: "Request lost", Fault: faultDropBefore},
		{Title: "Error after the effect", Fault: faultStatusAfter, Status: 500},
		{Title: "Error before the effect", Fault: faultStatusBefore},
		{Title: "Too many requests", Fault: faultRetryAfter, Delay: "2s"},
		{Title: "Answer cut", Fault: faultCutBody},
		{Title: "Key ignored", Fault: faultIgnoreIdempotency},
		{Title: "Search lags a minute", Fault: faultIndexLag, Delay: "1m"},
	}
	for i := range buttons {
		kind, _ := faultKindOf(buttons[i].Fault)
		buttons[i].Words, buttons[i].Places = kind.words, kind.places()
	}
	return buttons
}

// effectView is the page of one effect, for a person who follows the link of a
// target reference.
type effectView struct {
	effect
	What   string
	Fields []fieldView
}

type fieldView struct{ Name, Value string }

func (s *sandbox) showEffect(destination string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		for _, e := range s.ledger.list(destination, "") {
			if e.ID != id {
				continue
			}
			v := effectView{effect: e, What: whatItIs(e)}
			for name, value := range e.Fields {
				v.Fields = append(v.Fields, fieldView{name, fieldWords(value)})
			}
			slices.SortFunc(v.Fields, func(a, b fieldView) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
			s.render(w, "view.html", v)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		s.render(w, "missing.html", id)
	}
}

// fieldWords writes a field: text as it is, everything else as JSON.
func fieldWords(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return text(v)
	}
	return string(raw)
}

func (s *sandbox) render(w http.ResponseWriter, name string, v any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, v); err != nil {
		s.log.Error("render", "page", name, "error", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes())
}
