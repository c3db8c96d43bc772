package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// batchRoutes are the batches: their list, their pages, their items, and what is decided
// about a whole one.
func (s *site) batchRoutes() []route {
	const one = views.PathBatches + "/:id"
	list := []route{
		{get, views.PathBatches, signedIn, "", s.batches},
		{get, one, signedIn, "", s.batch},
		{get, one + "/items", signedIn, "", s.batchItems},
		{get, one + "/items.csv", signedIn, "", s.batchCSV},
		{get, one + "/items/:no", signedIn, "", s.batchItem},
		{get, one + "/items/:no/preview", signedIn, "", s.batchItemPreview},
		{get, one + "/items/:no/content", signedIn, "", s.batchItemContent},
		{post, one + "/decide", deciders, one, s.aboutBatch(s.decideBatch)},
		{post, one + "/withdraw", deciders, one, s.aboutBatch(s.withdrawBatch)},
		{post, one + "/settle", owners, one, s.aboutBatch(s.settleBatch)},
		{post, one + "/lookup", owners, one, s.aboutBatch(s.lookUpBatch)},
	}
	for _, a := range operation.BatchActs { // who may do which is the rule's, here as in the store: operation.MayActOnBatch
		at := one + "/" + string(a)
		may := writers.by(func(c echo.Context) error { return s.whoActs(c, a) })
		list = append(list, route{get, at, may, "", func(c echo.Context) error { return s.openBatchAct(c, a) }},
			route{post, at, may, at, s.aboutBatch(func(c echo.Context, p *store.BatchPage, t typed) error { return s.actOnBatch(c, p, a, t) })})
	}
	return list
}

func pathBatch(id operation.BatchID) string { return views.PathBatches + "/" + string(id) }

func pathItem(id operation.BatchID, number, position int) string {
	return pathBatch(id) + "/items/" + itoa(position) + "?version=" + itoa(number)
}

// findBatch reads the batch of the address. One of a flow that the person has no role for is
// not found, like a missing one. An auditor's look is recorded.
func (s *site) findBatch(c echo.Context) (*store.BatchPage, error) {
	p, err := s.addressedBatch(c)
	if err != nil {
		return nil, err
	}
	return p, s.look(c, store.Look{Batch: p.ID, Flow: p.Flow})
}

// addressedBatch reads the batch of the address, of which nothing is shown yet.
func (s *site) addressedBatch(c echo.Context) (*store.BatchPage, error) {
	id := c.Param("id")
	if !operation.ValidID("bat", id) {
		return nil, store.ErrNotFound
	}
	return s.Store.FindBatch(c.Request().Context(), web.VisitOf(c).Actor(), operation.BatchID(id))
}

// batch shows one batch. With a form kept over a sign-in it shows that form again, checked
// against what is there now.
func (s *site) batch(c echo.Context) error {
	t, waited := kept(c)
	p, err := s.findBatch(c)
	if err != nil {
		return err
	}
	return s.showBatch(c, http.StatusOK, p, t, waited && t.revision() != p.Revision)
}

// showBatch writes the page of a batch, with what was typed into one form. stale: the form
// was shown with something else than what is there now.
func (s *site) showBatch(c echo.Context, status int, p *store.BatchPage, t typed, stale bool) error {
	b, err := s.batchBuilder(c, p, t)
	if err != nil {
		return err
	}
	m := views.BatchModel{Head: b.head(), Stages: b.stages(), Counts: b.counts(), Panel: b.panel(), History: historyOf(p.History, b.n, p.ChainOK)}
	if m.Approved, err = s.batchApproved(c, b); err != nil {
		return err
	}
	if m.Sent, err = s.batchSent(c, b); err != nil {
		return err
	}
	m.Found = b.found()
	if stale {
		m.Stale = b.stale(t)
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.BatchPage(m))
}

// batchOf builds the page of a batch. ops builds what is decided as for one operation.
type batchOf struct {
	p    *store.BatchPage
	ops  panelOf
	n    names
	lang string
	t    typed
	may  func(...operation.Role) bool // whether the viewer holds one of the roles anywhere
	next bool                         // whether the viewer holds the role whose turn it is
}

func (s *site) batchBuilder(c echo.Context, p *store.BatchPage, t typed) (batchOf, error) {
	viewer, err := s.Store.FindViewer(c.Request().Context(), web.VisitOf(c).Actor())
	if err != nil {
		return batchOf{}, err
	}
	v, who := web.VisitOf(c), viewer.In(p.Flow)
	n := names{p.People, who}
	if err := s.nameFlow(c, n, p.Def); err != nil {
		return batchOf{}, err
	}
	received, err := s.Store.ListReceived(c.Request().Context(), who, p.Flow)
	lang := v.Printer().Lang
	return batchOf{p: p, n: n, lang: lang, t: t, may: v.Has, next: viewer.Holds(p.Turn, p.Flow),
		ops: panelOf{p: p.AsOperation(), n: n, lang: lang, zone: v.Printer().Zone, typed: t, received: received}}, err
}

// title is what a batch is called: by its first item, else by its stage.
func (b batchOf) title() string {
	if b.p.Title != "" {
		return b.p.Title
	}
	return b.p.Stage2.Title.In(b.lang)
}

// itemsURL is the list of the current version's items.
func (b batchOf) itemsURL() string { return pathBatch(b.p.ID) + "/items" }

// form gives a form's hidden fields: the version with the phase that is decided, its hash,
// and the revision.
func (b batchOf) form(name string) (views.Form, typed) {
	t := b.t.of(name)
	f := shownTo(newForm(t, pathBatch(b.p.ID)+"/"+name), b.n.viewer.ID)
	f.Revision, f.Hash, f.Version = b.p.Revision, b.p.Version.HashHex(), shownVersion(b.p)
	return f, t
}

// shownVersion is the version and phase as forms carry them: "2-first".
func shownVersion(p *store.BatchPage) operation.VersionID {
	return operation.VersionID(itoa(p.Number) + "-" + string(p.Phase()))
}
