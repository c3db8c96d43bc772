package viewstest

import (
	"fmt"
	"net/http/httptest"
	"os"
	"testing"

	"holdpoint/views/chrometest"
)

// The looks in which fixtures are shown.
var (
	wide     = chrometest.Look{}
	wideDark = chrometest.Look{Dark: true}
	// narrowest holds the longest words beside each other, in Polish.
	narrowest = chrometest.Look{Width: 320, Height: 900}
	phoneDark = chrometest.Look{Width: 390, Height: 844, Dark: true}
)

// TestPagesInABrowser opens every fixture in every look: nothing sticks out, axe-core
// finds nothing, no error, no breach of the policy, no request elsewhere. Names and roles
// do not differ between languages: axe-core looks at the Polish page alone.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(Gallery())
	t.Cleanup(srv.Close)
	browser := chrometest.Start(t)
	page := func(lang string, f Fixture) string { return srv.URL + "/gallery/" + lang + "/" + f.Name }
	const halves = 2 // for two cores
	for half := range halves {
		t.Run(fmt.Sprintf("pl-%d", half+1), func(t *testing.T) {
			t.Parallel()
			tab := browser.Tab(t, narrowest)
			for i, f := range All() {
				if i%halves != half {
					continue
				}
				tab.Show(narrowest)
				tab.Get(page("pl", f))
				tab.Narrow(f.Name + " at its narrowest")
				tab.AxeFor(f.Name+" at its narrowest", chrometest.LayoutOnly)
				tab.Shot(f.Name + ".narrow-pl")
				tab.Show(wide)
				tab.Narrow(f.Name)
				tab.AxeFor(f.Name, chrometest.ButContrast)
				tab.AxeColours(f.Name)
				tab.Show(wideDark)
				tab.AxeColours(f.Name + " in the dark")
			}
		})
	}
	t.Run("ja", func(t *testing.T) {
		t.Parallel()
		tab := browser.Tab(t, phoneDark)
		for _, f := range All() {
			tab.Get(page("ja", f))
			tab.Narrow(f.Name)
			tab.Shot(f.Name + ".phone-dark-ja")
		}
	})
	if os.Getenv("HOLDPOINT_SHOTS") == "" {
		return
	}
	t.Run("en", func(t *testing.T) { // for the pictures alone
		t.Parallel()
		tab := browser.Tab(t, wide)
		for _, f := range All() {
			tab.Show(wide)
			tab.Get(page("en", f))
			tab.Shot(f.Name + ".wide-en")
			tab.Show(wideDark)
			tab.Shot(f.Name + ".wide-dark-en")
		}
	})
}
