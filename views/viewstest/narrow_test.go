package viewstest

import (
	"net/http/httptest"
	"testing"

	"holdpoint/views/chrometest"
	"holdpoint/views/text"
)

// TestTheNarrowestPageInEveryLanguage: at 320 pixels nothing sticks out in any language. The
// frame's own words are the longest in Japanese, the sentences in Polish.
func TestTheNarrowestPageInEveryLanguage(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(Gallery())
	t.Cleanup(srv.Close)
	tab := chrometest.Start(t).Tab(t, chrometest.Look{Width: 320, Height: 900})
	for _, lang := range text.Languages {
		for _, page := range []string{"inbox", "operation-replacement-waits", "cause-disputed", "batch-held", "report", "case-second-suppressed"} {
			tab.Get(srv.URL + "/gallery/" + lang + "/" + page)
			tab.Narrow(lang + "/" + page)
		}
	}
}
