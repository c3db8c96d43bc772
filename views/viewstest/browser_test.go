package viewstest

import (
	"net/http/httptest"
	"testing"

	"holdpoint/views/chrometest"
)

// looks are the ways in which every fixture is looked at: the narrowest page with the
// longest words, a dark telephone in Japanese, a wide page. Contrast takes most of the
// time and depends on the colours alone: it is measured on the wide page, light and dark.
// What axe-core finds in the layout of the telephone it finds in the narrower page or in
// the wide one.
var looks = []struct {
	name, lang string
	look       chrometest.Look
	rules      chrometest.Rules // "" = none
	dark       bool             // and then in the dark
}{
	{"narrow-pl", "pl", chrometest.Look{Width: 320, Height: 900}, chrometest.ButContrast, false},
	{"phone-dark-ja", "ja", chrometest.Look{Width: 390, Height: 844, Dark: true}, "", false},
	{"wide-en", "en", chrometest.Look{}, chrometest.AllRules, true},
}

// TestPagesInABrowser opens every fixture in every look: nothing sticks out, axe-core
// finds nothing, no error, no breach of the policy, no request elsewhere.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(Gallery())
	t.Cleanup(srv.Close)
	browser := chrometest.Start(t)
	t.Run("looks", func(t *testing.T) {
		for _, l := range looks {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				tab := browser.Tab(t, l.look)
				for _, f := range All() {
					tab.Get(srv.URL + "/gallery/" + l.lang + "/" + f.Name)
					tab.Narrow(f.Name)
					if l.rules != "" {
						tab.AxeFor(f.Name, l.rules)
					}
					tab.Shot(f.Name + "." + l.name)
					if !l.dark {
						continue
					}
					dark := l.look
					dark.Dark = true
					tab.Show(dark)
					tab.AxeFor(f.Name+" in the dark", chrometest.ColoursOnly)
					tab.Shot(f.Name + ".wide-dark-en")
					tab.Show(l.look)
				}
			})
		}
	})
}
