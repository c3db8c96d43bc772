package handlers

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// historyRoutes are the history over all subjects, what concerns one thing, and the files.
func (s *site) historyRoutes() []route {
	list := []route{
		{get, views.PathHistory, signedIn, "", s.historyPage},
		{get, pathHistoryCSV, signedIn, "", s.historyCSV},
		{get, pathHistoryLines, signedIn, "", s.historyLines},
	}
	for _, about := range []store.About{store.AboutOperation, store.AboutRun, store.AboutIncident, store.AboutPerson} {
		list = append(list, route{get, views.PathTimeline + "/" + string(about) + "/:id", signedIn, "", func(c echo.Context) error { return s.timeline(c, about) }})
	}
	return list
}

// historyFields are the query fields that narrow the history; the place is none.
var historyFields = []string{"action", "actor", "channel", "destination", "flow", "from", "kind", "moved", "role", "state_from", "state_to", "subject", "to"}

// historyQuery gives the filters of an address alone, always in the same order.
func historyQuery(q url.Values) string {
	out := url.Values{}
	for _, name := range historyFields {
		if x := strings.TrimSpace(q.Get(name)); x != "" {
			out.Set(name, x)
		}
	}
	return out.Encode()
}

// actorKinds are the values of the filter by who that name no single one.
var actorKinds = map[string]operation.ActorKind{"any_person": operation.ActorPerson, "any_token": operation.ActorToken, "any_job": operation.ActorJob, "system": operation.ActorSystem}

// historyFilter reads the filters of an address. What it does not know finds nothing,
// rather than everything.
func historyFilter(q url.Values, v *web.Visit) store.HistoryFilter {
	x := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	f := store.HistoryFilter{SubjectKind: operation.SubjectKind(x("kind")), Subject: x("subject"), Role: operation.Role(x("role")), Channel: x("channel"), Action: x("action"),
		Flow: x("flow"), Destination: x("destination"), Before: operation.State(x("state_from")), After: operation.State(x("state_to")), Moved: x("moved") == "yes",
		Cursor: q.Get("after") + q.Get("before"), From: day0(x("from"), 0, v), To: day0(x("to"), 1, v)}
	if !isDay(x("from")) || !isDay(x("to")) {
		f.From, f.To = noDay, noDay
	}
	if f.Subject != "" && f.SubjectKind == "" {
		f.SubjectKind = subjectKindOf(f.Subject)
	}
	if k, ok := actorKinds[x("actor")]; ok {
		f.ActorKind = k
	} else {
		f.Actor = x("actor")
	}
	return f
}

// noDay is before anything was recorded: from it until it there is nothing.
var noDay = time.Unix(0, 0).UTC()

// isDay tells whether a filter names a day, or none at all.
func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return text == "" || err == nil
}

// subjectPrefixes are the beginnings of identifiers, by what they name.
var subjectPrefixes = map[string]operation.SubjectKind{"op": operation.SubjectOperation, "run": operation.SubjectRun, "usr": operation.SubjectUser, "inc": operation.SubjectIncident,
	"tsk": operation.SubjectTask, "pat": operation.SubjectPattern, "lim": operation.SubjectLimit, "rep": operation.SubjectReport, "acc": operation.SubjectAcceptance, "bat": operation.SubjectBatch}

// subjectKindOf tells what an identifier names.
func subjectKindOf(id string) operation.SubjectKind {
	prefix, _, _ := strings.Cut(id, "_")
	return subjectPrefixes[prefix]
}

// historyPage lists every entry that this person may see, with filters.
func (s *site) historyPage(c echo.Context) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	f := historyFilter(c.QueryParams(), v)
	list, err := s.Store.FindHistory(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	r, err := s.historyReader(c)
	if err != nil {
		return err
	}
	filters := historyQuery(c.QueryParams())
	m := views.HistoryPageModel{Filter: r.filter(f), Pager: pagerOf(c, list.Prev, list.Next), Integrity: integrityView(list.Integrity), Recorded: v.Has(operation.RoleAuditor),
		CSV: pathHistoryCSV + "?" + filters, Lines: pathHistoryLines + "?" + filters, Content: pathHistoryLines + "?" + strings.TrimPrefix(filters+"&content=yes", "&")}
	m.Filter.Active = filters != ""
	if f.Subject != "" {
		m.Timeline = timelineURL(f.SubjectKind, f.Subject)
	}
	for _, e := range list.Rows {
		m.Rows = append(m.Rows, r.row(e))
	}
	m.Frame = web.Frame(c, views.SectionHistory)
	return web.Render(c, views.HistoryPage(m))
}

// historyReader puts entries into the words of one reader.
type historyReader struct {
	n                   names
	v                   *web.Visit
	choices             *store.HistoryChoices
	flows, destinations map[string]string
	people              bool // they may open people's pages
}

func (s *site) historyReader(c echo.Context) (*historyReader, error) {
	v := web.VisitOf(c)
	choices, err := s.Store.HistoryChoices(c.Request().Context(), v.Actor())
	if err != nil {
		return nil, err
	}
	who, err := s.viewer(c, "")
	if err != nil {
		return nil, err
	}
	r := &historyReader{n: names{people: map[string]string{}, viewer: who}, v: v, choices: choices, flows: map[string]string{}, destinations: map[string]string{},
		people: who.Has(operation.RoleAdmin) || who.Has(operation.RoleAuditor)}
	for _, p := range choices.People {
		r.n.people[string(p.ID)] = p.Name
	}
	for _, x := range choices.Flows {
		r.flows[x.Name] = namedTitle(x, v.Printer())
	}
	for _, x := range choices.Destinations {
		r.destinations[x.Name] = namedTitle(x, v.Printer())
	}
	return r, nil
}

func titleIn(titles map[string]string, name string) string {
	if x := titles[name]; x != "" {
		return x
	}
	return name
}

// row shows one entry.
func (r *historyReader) row(e store.FoundEntry) views.HistoryPageRow {
	links := e.Links()
	out := views.HistoryPageRow{HistoryLine: historyLine(e.HistoryRow, r.n), ID: e.ID, Kind: e.SubjectKind, Subject: e.SubjectID, Label: e.Label, URL: r.subjectURL(e.SubjectKind, e.SubjectID),
		Flow: titleIn(r.flows, e.Flow), Destination: titleIn(r.destinations, e.Destination), Policy: links["policy"], Profile: links["profile"], Delegation: links["delegation"],
		Version: string(e.VersionID), Evidence: e.EvidenceHash}
	switch e.SubjectKind {
	case operation.SubjectFlow:
		out.Label = titleIn(r.flows, e.SubjectID)
	case operation.SubjectDestination:
		out.Label = titleIn(r.destinations, e.SubjectID)
	}
	for _, name := range []string{"operation", "other", "replacement", "replaces", "run", "delivery", "incident", "task"} {
		id := links[name]
		if id == "" || id == e.SubjectID {
			continue
		}
		if u := r.objectURL(id); u != "" {
			out.Objects = append(out.Objects, views.HistoryObject{Kind: name, Link: views.Link{Label: shortID(id), URL: u}})
		}
	}
	if a := links["attachment"]; a != "" {
		op := links["operation"]
		if e.SubjectKind == operation.SubjectOperation {
			op = e.SubjectID
		}
		out.Objects = append(out.Objects, views.HistoryObject{Kind: "attachment", Link: views.Link{Label: shortID(a), URL: pathAttachment(operation.ID(op), operation.AttachmentID(a))}})
	}
	return out
}

// objectURL is the page of what an identifier names; "" = it has none.
func (r *historyReader) objectURL(id string) string {
	if strings.HasPrefix(id, "dlv_") {
		return pathDelivery(operation.DeliveryID(id))
	}
	return r.subjectURL(subjectKindOf(id), id)
}

func (r *historyReader) subjectURL(kind operation.SubjectKind, id string) string {
	switch kind {
	case operation.SubjectOperation:
		return pathOperation(operation.ID(id))
	case operation.SubjectRun:
		return pathRun(operation.RunID(id))
	case operation.SubjectFlow:
		return pathFlow(id)
	case operation.SubjectDestination:
		return pathDestination(id)
	case operation.SubjectUser:
		if r.people {
			return pathPerson(operation.UserID(id))
		}
	case operation.SubjectSystem:
		return views.PathInstallation
	}
	return historyOfURL(kind, id)
}

// historyOfURL leads to the entries of one subject.
func historyOfURL(kind operation.SubjectKind, id string) string {
	if kind == "" {
		return ""
	}
	return views.PathHistory + "?" + url.Values{"kind": {string(kind)}, "subject": {id}}.Encode()
}

// timelineURL leads to everything that concerns a subject; "" = it has no timeline.
func timelineURL(kind operation.SubjectKind, id string) string {
	about := map[operation.SubjectKind]store.About{operation.SubjectOperation: store.AboutOperation, operation.SubjectRun: store.AboutRun,
		operation.SubjectIncident: store.AboutIncident, operation.SubjectUser: store.AboutPerson}[kind]
	if about == "" {
		return ""
	}
	return views.PathTimeline + "/" + string(about) + "/" + url.PathEscape(id)
}

func integrityView(i store.Integrity) views.HistoryIntegrity {
	out := views.HistoryIntegrity{Whole: i.Whole, Entries: i.Entries, Left: i.Left}
	for _, b := range i.Broken {
		out.Broken = append(out.Broken, views.BrokenHistory{Kind: b.Kind, Subject: b.Subject, Seq: b.Seq, URL: historyOfURL(b.Kind, b.Subject)})
	}
	if c := i.Checkpoint; c != nil {
		out.Checkpoint = &views.HistoryCheckpoint{Entries: c.Size, Root: hex.EncodeToString(c.Root), At: c.At, Key: c.Signer}
	}
	return out
}

// filter shows what the list is limited to.
func (r *historyReader) filter(f store.HistoryFilter) views.HistoryPageFilter {
	p := r.v.Printer()
	out := views.HistoryPageFilter{From: dayText(f.From, 0, r.v), To: dayText(f.To, -1, r.v), Subject: f.Subject, Moved: f.Moved, Actors: r.actors(f),
		Flows: options(r.choices.Flows, f.Flow, p), Destinations: options(r.choices.Destinations, f.Destination, p),
		More: f.SubjectKind != "" || f.Subject != "" || f.Role != "" || f.Channel != "" || f.Before != "" || f.After != "" || f.Moved}
	for _, k := range operation.SubjectKinds {
		out.Kinds = append(out.Kinds, views.Option{Value: string(k), Selected: k == f.SubjectKind})
	}
	for _, k := range operation.Roles {
		out.Roles = append(out.Roles, views.Option{Value: string(k), Selected: k == f.Role})
	}
	for _, k := range []string{"web", "api", "job", "command"} {
		out.Channels = append(out.Channels, views.Option{Value: k, Selected: k == f.Channel})
	}
	for _, a := range r.choices.Actions {
		out.Actions = append(out.Actions, views.Option{Value: a, Label: views.ActionWord(p, a), Selected: a == f.Action})
	}
	slices.SortStableFunc(out.Actions, func(a, b views.Option) int { return strings.Compare(a.Label, b.Label) })
	out.Before, out.After = r.states(f.Before), r.states(f.After)
	return out
}

func (r *historyReader) states(selected operation.State) (out []views.Option) {
	for _, s := range operation.States {
		out = append(out, views.Option{Value: string(s), Label: r.v.Printer().T("state." + string(s)), Selected: s == selected})
	}
	return out
}

// actors are by whom the history can be narrowed: anybody of a kind, a person, a service.
// One that is asked for and not offered is named as it is.
func (r *historyReader) actors(f store.HistoryFilter) (out []views.Option) {
	p := r.v.Printer()
	found := f.Actor == ""
	for _, k := range []string{"any_person", "any_token", "any_job", "system"} {
		out = append(out, views.Option{Value: k, Label: p.T("history_page.actor." + k), Selected: actorKinds[k] == f.ActorKind})
	}
	add := func(id, label string) {
		found = found || id == f.Actor
		out = append(out, views.Option{Value: id, Label: label, Selected: id == f.Actor})
	}
	for _, x := range r.choices.People {
		add(string(x.ID), x.Name)
	}
	for _, x := range r.choices.Tokens {
		add(string(x.ID), x.Name)
	}
	if !found {
		add(f.Actor, f.Actor)
	}
	return out
}

// timeline shows everything that concerns one thing, in one order.
func (s *site) timeline(c echo.Context, about store.About) error {
	v, id := web.VisitOf(c), c.Param("id")
	list, err := s.Store.FindTimeline(c.Request().Context(), v.Actor(), about, id, c.QueryParam("after"))
	if err != nil {
		return err
	}
	r, err := s.historyReader(c)
	if err != nil {
		return err
	}
	kind := operation.SubjectKind(about)
	if about == store.AboutPerson {
		kind = operation.SubjectUser
	}
	m := views.TimelineModel{Kind: string(about), ID: id, Title: list.Title, URL: r.subjectURL(kind, id), History: historyOfURL(kind, id), Next: pagerOf(c, "", list.Next).Next}
	if c.QueryParam("after") != "" {
		m.First = c.Request().URL.Path
	}
	var deliveries []views.DeliveryRow
	for _, h := range list.Rows {
		if h.Delivery != nil {
			deliveries = append(deliveries, deliveryRow(*h.Delivery, r.n))
		}
	}
	if err := s.titleDeliveries(c, deliveries); err != nil {
		return err
	}
	for _, h := range list.Rows {
		row := r.happening(h)
		if h.Delivery != nil {
			row.Delivery, deliveries = &deliveries[0], deliveries[1:]
		}
		m.Rows = append(m.Rows, row)
	}
	m.Frame = web.Frame(c, views.SectionHistory)
	return web.RenderStatus(c, http.StatusOK, views.TimelinePage(m))
}

func (r *historyReader) happening(h store.Happening) views.TimelineRow {
	out := views.TimelineRow{At: h.At}
	switch {
	case h.Entry != nil:
		row := r.row(*h.Entry)
		out.Entry = &row
	case h.Event != nil:
		out.Event = &views.EventView{ID: h.Event.ID, Source: h.Event.Source, Account: h.Event.Account, Topic: h.Event.Topic, Key: h.Event.Key, At: h.Event.ReceivedAt}
	case h.Notice != nil:
		out.Notice = &views.ToldLine{Kind: h.Notice.Kind, Title: h.Notice.Title, Channel: h.Notice.Channel, State: h.Notice.State, Place: h.Notice.Addressee}
		if h.Notice.User != "" {
			out.Notice.To, out.Notice.Place = r.n.person(string(h.Notice.User)), ""
		}
	}
	return out
}
