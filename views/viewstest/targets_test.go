package viewstest

import (
	"net/http/httptest"
	"testing"

	"holdpoint/views/chrometest"
)

// TestTargetsOnATelephone: what stands by itself in lists, rows and facts can be pressed with a
// thumb, or has room around it. The pages are those with the most links close together.
func TestTargetsOnATelephone(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(Gallery())
	t.Cleanup(srv.Close)
	tab := chrometest.Start(t).Tab(t, chrometest.Phone())
	for _, page := range []string{"ja/destination", "en/figures", "en/figure-rate", "ja/pattern", "en/source", "ja/retention-preview", "ja/same-differs", "en/batch-pending", "ja/batch-draft", "ja/batch-pending", "ja/batch-stopped", "pl/batches", "en/inbox", "ja/inbox", "pl/history"} {
		tab.Get(srv.URL + "/gallery/" + page)
		tab.AxeFor(page, chrometest.TargetsOnly)
	}
}
