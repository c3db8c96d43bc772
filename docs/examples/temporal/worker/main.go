// Command worker runs the example workflow's worker.
//
//	TEMPORAL_ADDRESS=127.0.0.1:7233 HOLDPOINT_URL=http://127.0.0.1:7300 HOLDPOINT_TOKEN=… go run ./worker
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"strings"

	"example/temporal"

	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"holdpoint/handlers/api/client"
)

func main() {
	c, err := sdk.Dial(sdk.Options{HostPort: os.Getenv("TEMPORAL_ADDRESS")})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	w := worker.New(c, "effects", worker.Options{})
	w.RegisterWorkflow(temporal.Effect)
	w.RegisterActivity(&temporal.Activities{Holdpoint: client.New(os.Getenv("HOLDPOINT_URL"), os.Getenv("HOLDPOINT_TOKEN")), Signals: c, Worker: "temporal", Act: act})
	if err := w.Run(worker.InterruptCh()); err != nil {
		log.Fatal(err)
	}
}

// act sends the permitted request once. What is not proven is unknown: the zero report.
func act(ctx context.Context, p client.Permit) client.Report {
	req, err := http.NewRequestWithContext(ctx, p.Request.Method, p.Request.URL, strings.NewReader(p.Request.Body))
	if err != nil {
		return client.Report{Code: "bad_request", Excerpt: err.Error()}
	}
	for _, h := range p.Request.Header {
		req.Header.Set(h.Name, h.Value)
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("DESTINATION_TOKEN"))
	req.GetBody = nil // nothing to repeat from
	once := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := once.Do(req)
	if err != nil {
		return client.Report{Code: "no_answer", Excerpt: err.Error()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return client.Report{Code: "body_cut", Status: resp.StatusCode, Excerpt: string(body)}
	}
	return temporal.Judge(resp.StatusCode, body)
}
