package viewstest

import (
	"net/http/httptest"
	"testing"

	"holdpoint/views/chrometest"
)

// looks are the ways in which every fixture is looked at: the narrowest page with the
// longest words, a dark telephone in Japanese, a wide light page, a wide dark one.
var looks = []struct {
	name, lang string
	look       chrometest.Look
}{
	{"narrow-pl", "pl", chrometest.Look{Width: 320, Height: 900}},
	{"phone-dark-ja", "ja", chrometest.Look{Width: 390, Height: 844, Dark: true}},
	{"wide-en", "en", chrometest.Look{}},
	{"wide-dark-en", "en", chrometest.Look{Dark: true}},
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
					tab.Axe(f.Name)
					tab.Shot(f.Name + "." + l.name)
				}
			})
		}
	})
}
