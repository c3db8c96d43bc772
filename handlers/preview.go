package handlers

import (
	"net/http"
	"slices"
	"strings"

	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/html"
)

// preview gives the HTML part of a mail, for a sandboxed frame: under its own policy it
// loads, runs and sends nothing, and nothing in it can be followed.
func (s *site) preview(c echo.Context) error {
	_, v, err := s.findVersion(c)
	if err != nil {
		return err
	}
	return s.showPreview(c, shownValue(v.Content()["html"]))
}

// showPreview writes the HTML part of a mail.
func (s *site) showPreview(c echo.Context, body string) error {
	if body == "" {
		return store.ErrNotFound
	}
	web.PreviewHeaders(c)
	c.Response().Header().Set("X-DNS-Prefetch-Control", "off")
	shown, err := withoutWaysOut(body)
	if err != nil { // nested too deeply to be read as browsers do: its source is shown
		return c.String(http.StatusOK, body)
	}
	return c.HTML(http.StatusOK, shown)
}

// waysOut are the attributes by which a press leads away. The frame's policy stops a plain
// press; one that opens a new tab is the browser's own and asks no policy. A browser also
// connects ahead for a frame that the policy then forbids, and for hints to do so.
var (
	waysOut = []string{"href", "xlink:href", "ping", "action", "formaction", "target", "download", "src", "srcdoc", "data", "code", "codebase"}
	leading = []string{"a", "area", "form", "button", "input", "iframe", "frame", "object", "embed", "applet", "portal", "fencedframe"}
	leftOut = []string{"link", "base", "meta", "script"}
)

// withoutWaysOut takes from a copy of an HTML text what could be followed by a press, and
// what would connect elsewhere without asking the policy. Where its links lead stands beside
// it; the text itself stays as it is in the record.
func withoutWaysOut(body string) (string, error) {
	doc, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		return "", err
	}
	var out []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && slices.Contains(leftOut, n.Data) {
			out = append(out, n)
		}
		if n.Type == html.ElementNode && slices.Contains(leading, n.Data) {
			n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
				return slices.Contains(waysOut, strings.ToLower(a.Key)) || a.Namespace == "xlink"
			})
		}
	}
	for _, n := range out {
		n.Parent.RemoveChild(n)
	}
	var b strings.Builder
	err = html.Render(&b, doc)
	return b.String(), err
}
