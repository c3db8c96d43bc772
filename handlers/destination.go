package handlers

import (
	"fmt"
	"net/http"
	"os"
	"sort"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// destinations lists where effects take place.
func (s *site) destinations(c echo.Context) error {
	items, err := s.Store.ListDestinations(c.Request().Context())
	if err != nil {
		return err
	}
	m := views.DestinationsModel{}
	for _, d := range items {
		p := d.Profile
		m.Rows = append(m.Rows, views.DestinationRow{Key: d.Name, URL: pathDestination(d.Name), Title: p.Title.In(lang(c)), Kind: p.Kind, Account: p.Account, Environment: p.Environment,
			Paused: d.Paused != nil, InFlight: d.Counts.InFlight(), Unresolved: d.Counts.Unresolved(), Local: p.Local})
	}
	text.SortBy(web.VisitOf(c).Printer(), m.Rows, func(r views.DestinationRow) string { return r.Title })
	m.Frame = web.Frame(c, views.SectionDestinations)
	return web.Render(c, views.DestinationsPage(m))
}

func (s *site) destination(c echo.Context) error {
	t, _ := kept(c)
	return s.showDestination(c, http.StatusOK, t)
}

// showDestination writes one destination as a readable card, with what was typed into
// its switch.
func (s *site) showDestination(c echo.Context, status int, t typed) error {
	d, err := s.Store.FindDestination(c.Request().Context(), c.Param("name"))
	if err != nil {
		return err
	}
	versions, err := s.Store.ListDestinationVersions(c.Request().Context(), d.Name)
	if err != nil {
		return err
	}
	ids := authors(versions)
	if d.Paused != nil {
		ids = append(ids, d.Paused.By)
	}
	n, err := s.names(c, "", ids...)
	if err != nil {
		return err
	}
	m := destinationModel(d, n, lang(c))
	probes, err := s.Store.FindProbes(c.Request().Context(), d.Name)
	if err != nil {
		return err
	}
	for i := range m.Actions {
		probed(&m.Actions[i], d.Profile, probes[m.Actions[i].Name])
	}
	m.Versions = definitionVersions(versions, pathDestination(d.Name), n)
	health, err := s.Store.FindHealth(c.Request().Context(), web.VisitOf(c).Actor(), d.Name)
	if err != nil {
		return err
	}
	m.Health = healthView(health, d.Counts[operation.Ready]+d.Counts[operation.RetryScheduled])
	if m.InFlight, err = s.inFlightOf(c, d.Name); err != nil {
		return err
	}
	barred, err := s.mayPause(c, "")
	if err != nil {
		return err
	}
	m.Pause, m.Resume = pauseForms(pathDestination(d.Name), d.Paused != nil, barred, d.Counts.InFlight(), t)
	if m.Acceptance, err = s.acceptanceCard(c, store.AcceptanceFilter{Destination: d.Name}); err != nil {
		return err
	}
	if m.Callbacks, err = s.callbackCard(c, d); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionDestinations)
	return web.RenderStatus(c, status, views.DestinationPage(m))
}

func destinationModel(d store.DestinationItem, n names, lang string) views.DestinationModel {
	p := d.Profile
	m := views.DestinationModel{
		Key: d.Name, Title: p.Title.In(lang), Kind: p.Kind, Account: p.Account, Environment: p.Environment, Address: addressOf(p), AddressUnfit: unfit(p), Credential: p.Auth.Name(), Local: p.Local,
		Concurrency: p.Limits.Concurrency, Rate: rateText(p.Limits), Timeout: p.Limits.Timeout, SettleAfter: p.SettleAfter,
		Retry:   views.RetryView{Max: p.Retry.Max, Base: p.Retry.Base, MaxInterval: p.Retry.MaxInterval},
		DocsURL: safeURL(p.Docs.URL), DocsChecked: day(p.Docs.Checked), Paused: pausedBy(views.PauseDestination, d.Paused, n),
	}
	names := make([]string, 0, len(p.Actions))
	for name := range p.Actions {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		m.Actions = append(m.Actions, actionView(p.Actions[name], lang))
	}
	return m
}

func actionView(a *definition.Action, lang string) views.DestinationAction {
	pr := a.Protection()
	out := views.DestinationAction{Name: a.Name, Title: a.Title.In(lang), Unique: a.Unique != "", Effect: a.Effect, Retention: pr.Retention, ProvenOn: day(a.Proven.On), HasLookup: a.HasLookup(), LookupLag: pr.LookupLag,
		Authoritative: a.Authoritative, Overwrites: pr.Overwrites, ReplaysErrors: a.ReplaysErrors()}
	out.TimeOut, out.RepeatFor = string(a.Meaning().TimeOut), max(pr.Retention-pr.Margin, 0)
	if pr.Key {
		out.KeyHeader = a.KeyHeader()
	}
	return out
}

// probed adds what probes have shown. One that shows that a protection does not hold goes
// before the profile, as at the gate.
func probed(v *views.DestinationAction, p *definition.Profile, known store.ActionProbes) {
	if n := known.Newest; n.ID != "" {
		v.Probe = &views.ProbeView{ID: n.ID, Result: n.Result, At: n.At, Account: n.Account, OtherFile: n.ProfileHash != p.Hash, Steps: n.Steps}
	}
	a, err := p.Action(v.Name)
	if err != nil {
		return
	}
	if v.Broken = brokenSince(a, known); v.Broken.IsZero() {
		return
	}
	if v.TimeOut == string(definition.TimeOutRepeated) {
		v.TimeOut = string(definition.TimeOutPerson)
		if v.HasLookup {
			v.TimeOut = string(definition.TimeOutLookedUp)
		}
	}
}

// brokenSince is when a probe showed that a protection does not hold, if that goes before
// what the profile says; zero = none did.
func brokenSince(a *definition.Action, known store.ActionProbes) time.Time {
	if known.Telling.Result != operation.ProbeBroken || operation.Shown(a.ProvenSince(), known.Telling) {
		return time.Time{}
	}
	return known.Telling.At
}

// addressOf is the destination's address as this installation reads it.
func addressOf(p *definition.Profile) string {
	base, err := p.Base(os.LookupEnv)
	if err != nil {
		if p.Kind == operation.RequestSMTP && p.SMTP != nil {
			return p.SMTP.Addr
		}
		return p.BaseURL
	}
	return base
}

// unfit reports that no request can be written for the destination's address.
func unfit(p *definition.Profile) bool {
	_, err := p.Base(os.LookupEnv)
	return err != nil
}

func rateText(l definition.Limits) string {
	if l.Rate <= 0 {
		return ""
	}
	return fmt.Sprintf("%g/s", l.Rate)
}

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
