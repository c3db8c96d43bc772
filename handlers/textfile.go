package handlers

import (
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// contentRoutes give what a page shows only in part, whole and as plain text. Whoever may
// read the operation may read them.
func (s *site) contentRoutes() []route {
	const version, attempt = "/operations/:id/versions/:version", "/operations/:id/attempts/:attempt"
	return []route{
		{get, version + "/preview", signedIn, "", s.preview},
		{get, version + "/content", signedIn, "", s.versionContent},
		{get, version + "/request", signedIn, "", s.versionRequest},
		{get, attempt + "/request", signedIn, "", s.attemptRequest},
	}
}

// findVersion reads the version that the address names; an erased one is not found.
func (s *site) findVersion(c echo.Context) (*store.OperationPage, *store.VersionRow, error) {
	p, err := s.find(c)
	if err != nil {
		return nil, nil, err
	}
	v := versionByID(p, operation.VersionID(c.Param("version")))
	if v == nil || v.ContentText == "" {
		return nil, nil, store.ErrNotFound
	}
	return p, v, nil
}

// versionContent gives a version's content as it is stored, or one text of it.
func (s *site) versionContent(c echo.Context) error {
	_, v, err := s.findVersion(c)
	if err != nil {
		return err
	}
	field := c.QueryParam("field")
	if field == "" {
		return web.TextFile(c, string(v.ID)+"-content.json.txt", v.ContentText)
	}
	x, ok := v.Content()[field]
	if !ok {
		return store.ErrNotFound
	}
	return web.TextFile(c, string(v.ID)+"-"+field+".txt", shownValue(x))
}

// versionRequest gives a version's exact request; holes stand as {name}.
func (s *site) versionRequest(c echo.Context) error {
	_, v, err := s.findVersion(c)
	if err != nil {
		return err
	}
	r := v.Request()
	if r.Kind == "" {
		return store.ErrNotFound
	}
	return web.TextFile(c, string(v.ID)+"-request.txt", operation.ShowHoles(requestText(r)))
}

// attemptRequest gives the request of an attempt as it was handed out. ?form=canonical
// gives its canonical form, whose SHA-256 is the recorded hash; ?form=body the body alone.
func (s *site) attemptRequest(c echo.Context) error {
	p, err := s.find(c)
	if err != nil {
		return err
	}
	r, ok := sentBy(p, operation.AttemptID(c.Param("attempt")))
	if !ok {
		return store.ErrNotFound
	}
	name := c.Param("attempt")
	switch c.QueryParam("form") {
	case "canonical":
		return web.TextFile(c, name+"-canonical.json.txt", string(r.Canonical()))
	case "body":
		return web.TextFile(c, name+"-body.txt", r.Body)
	}
	return web.TextFile(c, name+"-request.txt", requestText(r))
}

// sentBy decodes what an attempt sent; the record keeps equal bytes of neighbours once.
func sentBy(p *store.OperationPage, id operation.AttemptID) (operation.Request, bool) {
	var last operation.Request
	known := false
	for _, a := range p.Attempts {
		if r, ok := a.Sent(); ok {
			last, known = r, true
		} else if !a.AsBefore {
			known = false
		}
		if a.ID == id {
			return last, known
		}
	}
	return last, false
}

// encodingName is an encoding as people write it: UTF-8, Windows-1252.
func encodingName(e string) string {
	if name, ok := strings.CutPrefix(e, "utf"); ok {
		return "UTF" + strings.ToUpper(name)
	}
	return strings.ToUpper(e[:1]) + e[1:]
}

// encodingOptions offers the encodings of a table, with the chosen one.
func encodingOptions(chosen string) (out []views.Option) {
	for _, e := range definition.Encodings {
		out = append(out, views.Option{Value: e, Label: encodingName(e), Selected: e == chosen})
	}
	return out
}

// separatorOptions offers the separators of a table, with the chosen one.
func separatorOptions(chosen string) (out []views.Option) {
	for _, x := range definition.Separators {
		out = append(out, views.Option{Value: separatorNames[x], Selected: x == chosen})
	}
	return out
}
