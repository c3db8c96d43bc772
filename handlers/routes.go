package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// Permissions. A role for any one flow opens the route; whether it is enough for the
// operation at hand is decided in the store's transaction.
var (
	anyone   = permission{name: "anyone", open: true}
	signedIn = permission{name: "signed in", roles: operation.Roles}
	members  = permission{name: "whoever has an account", roles: operation.Roles, anyRole: true}
	writers  = permission{name: "writers", roles: []operation.Role{operation.RoleAuthor, operation.RoleApprover, operation.RoleOpsOwner, operation.RoleAdmin}}
	deciders = permission{name: "deciders", roles: []operation.Role{operation.RoleApprover, operation.RoleOpsOwner, operation.RoleAdmin, operation.RoleAuthor}}
	owners   = permission{name: "ops owners", roles: []operation.Role{operation.RoleOpsOwner, operation.RoleApprover, operation.RoleAdmin}}
	stoppers = permission{name: "who may pause", roles: []operation.Role{operation.RoleOpsOwner, operation.RoleAdmin}}
	admins   = permission{name: "admins", roles: []operation.Role{operation.RoleAdmin}}
	readers  = permission{name: "admins and auditors", roles: []operation.Role{operation.RoleAdmin, operation.RoleAuditor}}
)

// routes is the whole table of pages, put together from the tables of each room.
func (s *site) routes() []route {
	return slices.Concat(s.doorRoutes(), s.accountRoutes(), s.peopleRoutes(), s.readingRoutes(), s.historyRoutes(), s.viewRoutes(), s.operationRoutes(), s.decidingRoutes(), s.contentRoutes(), s.setupRoutes(), s.attachmentRoutes(), s.liveRoutes(), s.factorRoutes(), s.providerRoutes(), s.peopleFactorRoutes(), s.noticeRoutes(), s.figureRoutes(), s.limitRoutes(), s.reportRoutes(), s.caseRoutes(), s.batchRoutes(), s.causeRoutes(), s.acceptanceRoutes(), s.retentionRoutes(), s.incidentRoutes(), s.taskRoutes(), s.sheetRoutes(), s.integrityRoutes(), s.startingRoutes(), s.listingRoutes(), s.suppressionRoutes(), s.sourceRoutes(), s.newsRoutes())
}

// A POST names the page that shows its form: that page comes back when the form is
// refused, and after a sign-in in between. The last part of a POST's address is the
// form's name.
const (
	get  = http.MethodGet
	post = http.MethodPost
)

// doorRoutes are the sign-in.
func (s *site) doorRoutes() []route {
	return []route{
		{get, "/", anyone, "", s.home},
		{get, views.PathSignIn, anyone, "", s.signInPage},
		{post, views.PathSignIn, anyone, "", s.signIn},
		{get, pathSetPassword, anyone, "", s.setPasswordPage},
		{post, pathSetPassword, anyone, "", s.setPassword},
		{post, views.PathSignOut, anyone, "", s.signOut},
	}
}

// readingRoutes are the lists and what they lead to.
func (s *site) readingRoutes() []route {
	return []route{
		{get, views.PathInbox, signedIn, "", s.inbox},
		{get, views.PathOperations, signedIn, "", s.operations},
		{get, "/runs/:id", signedIn, "", s.run},
		{get, views.PathDeliveries, signedIn, "", s.deliveries},
		{get, views.PathDeliveries + "/:id", signedIn, "", s.delivery},
		{post, views.PathDeliveries + "/:id/release", deciders, views.PathDeliveries + "/:id", s.release},
		{post, views.PathDeliveries + "/:id/discard", deciders, views.PathDeliveries + "/:id", s.discard},
	}
}

// operationRoutes are one operation, its forms, and the entry of an adopted one.
func (s *site) operationRoutes() []route {
	const op = "/operations/:id"
	return []route{
		{get, op, signedIn, "", s.operation},
		{get, op + "/edit", writers, "", s.editPage},
		{post, op + "/edit", writers, op + "/edit", s.about(s.edit)},
		{get, op + "/replace", writers, "", s.replacePage},
		{post, op + "/replace", writers, op + "/replace", s.about(s.replace)},
		{post, op + "/cancel", writers, op, s.about(s.cancel)},
		{post, op + "/evidence", writers, op, s.aboutFiles(s.evidence)},
		{post, op + "/decide", deciders, op, s.about(s.decide)},
		{post, op + "/withdraw", deciders, op, s.about(s.withdraw)},
		{post, op + "/reconcile", owners, op, s.aboutFiles(s.reconcile)},
		{post, op + "/reexecution", owners.again(), op, s.about(s.decideReexecution)},
		{post, op + "/withdraw-request", owners, op, s.about(s.withdrawRequest)},
		{post, op + "/recheck", owners, op, s.aboutFiles(s.recheck)},
		{post, op + "/grant", owners, op, s.about(s.grant)},
		{post, op + "/dispute", owners.by(s.whoDisputes), op, s.aboutFiles(s.dispute)},
		{post, op + "/remedy", owners, op, s.about(s.remedy)},
		{post, op + "/go-on", owners, op, s.about(s.goOn)},
		{get, views.PathAdopt, owners, "", s.adoptPage},
		{post, views.PathAdopt, owners, views.PathAdopt, s.adopt},
		{post, op + "/pause", stoppers, op, s.about(s.pauseOperation)},
		{post, op + "/resume", stoppers, op, s.about(s.resumeOperation)},
	}
}

// setupRoutes are flows, destinations, the installation, people.
func (s *site) setupRoutes() []route {
	return []route{
		{get, views.PathFlows, signedIn, "", s.flows},
		{get, views.PathFlows + "/:name", signedIn, "", s.flow},
		{get, views.PathFlows + "/:name/versions/:version", signedIn, "", s.flowVersion},
		{get, views.PathDestinations, signedIn, "", s.destinations},
		{get, views.PathDestinations + "/:name", signedIn, "", s.destination},
		{get, views.PathDestinations + "/:name/versions/:version", signedIn, "", s.destinationVersion},
		{post, views.PathFlows + "/:name/pause", stoppers, views.PathFlows + "/:name", s.pauseFlow},
		{post, views.PathFlows + "/:name/resume", stoppers, views.PathFlows + "/:name", s.resumeFlow},
		{post, views.PathDestinations + "/:name/pause", stoppers, views.PathDestinations + "/:name", s.pauseDestination},
		{post, views.PathDestinations + "/:name/resume", stoppers, views.PathDestinations + "/:name", s.resumeDestination},
		{get, views.PathInstallation, signedIn, "", s.installation},
		{post, views.PathInstallation + "/pause", admins, views.PathInstallation, s.pauseAll},
		{post, views.PathInstallation + "/resume", admins, views.PathInstallation, s.resumeAll},
	}
}

// route is one address of the table.
type route struct {
	method string
	path   string
	may    permission
	page   string // of a POST: the page that shows its form
	handle echo.HandlerFunc
}

// permission says who may open an address.
type permission struct {
	name  string
	open  bool
	roles []operation.Role
	// fresh asks for a proof of the person that is not old: store.Store.ConfirmAfter.
	fresh bool
	// anyRole lets pass also whoever holds no role: it is about themselves.
	anyRole bool
	// enrol lets pass also whoever must set a second factor up before anything else.
	enrol bool
	// rule refuses whoever holds none of the roles, and names who may about what the address
	// names; nil = the first of the roles is named.
	rule func(echo.Context) error
}

// by is the permission whose refusal names who may by the rule that decides.
func (p permission) by(rule func(echo.Context) error) permission {
	p.rule = rule
	return p
}

// refuse says that the viewer holds none of the roles.
func (p permission) refuse(c echo.Context) error {
	if p.rule != nil {
		if err := p.rule(c); refusalOf(err) != nil {
			return err
		}
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(p.roles[0])).By(operation.Responsible{Role: p.roles[0]})
}

// again is the permission for whoever has proved lately who they are.
func (p permission) again() permission {
	p.name += ", proven lately"
	p.fresh = true
	return p
}

// guarded puts the permission before the handler. Whoever is not signed in is asked to
// do so; a form that they sent is kept meanwhile.
func (r route) guarded() echo.HandlerFunc {
	return func(c echo.Context) error {
		v := web.VisitOf(c)
		if err := readable(c); err != nil {
			return err
		}
		switch {
		case r.may.open:
		case v.Enrolling != nil && r.may.enrol:
		case v.Enrolling != nil:
			return c.Redirect(http.StatusSeeOther, views.PathFactors)
		case v.User == nil:
			return web.AskSignIn(c, fill(r.page, c), r.form())
		case !r.may.anyRole && !v.Has(r.may.roles...):
			return r.may.refuse(c)
		case r.may.fresh && !web.Proven(c):
			return web.AskConfirm(c, fill(r.page, c), r.form())
		}
		err := r.handle(c)
		if errors.Is(err, store.ErrConfirm) { // the proof became too old on the way
			return web.AskConfirm(c, fill(r.page, c), r.form())
		}
		return err
	}
}

// readable refuses an address that no page of ours links to: bytes that are no text, or
// the zero byte, which no name and no text of the record can hold.
func readable(c echo.Context) error {
	for _, v := range c.ParamValues() {
		if !web.IsText(v) {
			return store.ErrNotFound
		}
	}
	for name, list := range c.QueryParams() {
		if !web.IsText(name) || slices.ContainsFunc(list, func(v string) bool { return !web.IsText(v) }) {
			return echo.NewHTTPError(http.StatusBadRequest)
		}
	}
	return nil
}

// back leads from the address of a form to the page that shows it: a form that failed
// keeps its address in the browser, and a reload asks for it.
func (r route) back(c echo.Context) error {
	if err := readable(c); err != nil {
		return err
	}
	to := url.URL{Path: fill(r.page, c)}
	return c.Redirect(http.StatusSeeOther, to.EscapedPath())
}

// form is the name of a POST's form: the last part of its address.
func (r route) form() string { return r.path[strings.LastIndex(r.path, "/")+1:] }

// fill puts the address's own parts into the pattern of another.
func fill(pattern string, c echo.Context) string {
	for _, name := range c.ParamNames() {
		pattern = strings.ReplaceAll(pattern, ":"+name, c.Param(name))
	}
	return pattern
}

// Entry is one line of the table of addresses, for tests and documentation.
type Entry struct {
	Method, Path string
	Roles        []operation.Role // empty = anyone
	// Fresh says that it asks for a proof of the person that is not old.
	Fresh bool
}

// Table lists all addresses of pages with who may open them.
func Table() []Entry {
	var out []Entry
	for _, r := range (&site{}).routes() {
		out = append(out, Entry{Method: r.method, Path: r.path, Roles: r.may.roles, Fresh: r.may.fresh})
	}
	return out
}
