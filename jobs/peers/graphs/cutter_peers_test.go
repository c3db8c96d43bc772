//go:build peers

package graphs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// cutter stands before a server and drops its answers to runs; everything else passes.
type cutter struct {
	addr string
	runs atomic.Int32
}

func (c *cutter) sent() int { return int(c.runs.Load()) }

func newCutter(t *testing.T, target string) *cutter {
	t.Helper()
	c := &cutter{}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+target+r.URL.RequestURI(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = r.Header.Clone()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/runs") {
			c.runs.Add(1)
			panic(http.ErrAbortHandler)
		}
		rw.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		rw.WriteHeader(resp.StatusCode)
		_, _ = rw.Write(body)
	}))
	t.Cleanup(srv.Close)
	c.addr = strings.TrimPrefix(srv.URL, "http://")
	return c
}
