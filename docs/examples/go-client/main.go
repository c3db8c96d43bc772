// Command go-client is a job of your own under Holdpoint's gate: it asks for permits of
// one destination, sends what it is handed out, once, and reports what became of it.
//
//	HOLDPOINT_URL=http://127.0.0.1:7300 HOLDPOINT_TOKEN=… DESTINATION=partner \
//	DESTINATION_TOKEN=… go run ./docs/examples/go-client
//
// Where you copy it to, replace send and judge by what your destination documents.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"holdpoint/handlers/api/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	name, err := os.Hostname()
	if err != nil {
		name = "go-client"
	}
	w := client.Worker{
		Client:      client.New(os.Getenv("HOLDPOINT_URL"), os.Getenv("HOLDPOINT_TOKEN")),
		Destination: os.Getenv("DESTINATION"),
		Name:        name,
		AtOnce:      2,
		Act:         act,
		Told: func(c client.Claim, r client.Recorded, err error) {
			if code, refused := client.Refused(err); refused {
				log.Printf("%s: refused, nothing was sent: %s", c.Operation, code)
				return
			}
			if err != nil {
				log.Printf("%s: not reported; Holdpoint will find out: %v", c.Operation, err)
				return
			}
			log.Printf("%s: %s, now %s %s", c.Operation, r.Outcome, r.State, r.Reason)
		},
	}
	log.Printf("waiting for permits of %s", w.Destination)
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// act sends the permitted request once and judges the answer.
func act(ctx context.Context, p client.Permit) client.Report {
	req, err := http.NewRequestWithContext(ctx, p.Request.Method, p.Request.URL, strings.NewReader(p.Request.Body))
	if err != nil {
		return client.Report{Code: "bad_request", Excerpt: err.Error()}
	}
	for _, h := range p.Request.Header {
		req.Header.Set(h.Name, h.Value)
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("DESTINATION_TOKEN"))
	// Go's transport repeats a keyed POST by itself when a kept-alive connection drops.
	// One transport per attempt, no kept-alive connection, nothing to repeat from.
	req.GetBody = nil
	once := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if p.Left() <= 0 {
		return client.Report{Code: "send_by_passed"}
	}
	resp, err := once.Do(req)
	if err != nil {
		return client.Report{Code: "no_answer", Excerpt: err.Error()} // a time-out is not a failure
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return client.Report{Code: "body_cut", Status: resp.StatusCode, Excerpt: string(body)}
	}
	return judge(resp.StatusCode, body)
}

// judge says confirmed only for an answer that names the effect, and not_started only
// with a code of the destination's profile. Everything else is unknown.
func judge(status int, body []byte) client.Report {
	r := client.Report{Status: status, Excerpt: string(body), Code: "unrecognised_answer"}
	var answer struct {
		ID string `json:"id"`
	}
	switch {
	case (status == http.StatusOK || status == http.StatusCreated) && json.Unmarshal(body, &answer) == nil && answer.ID != "":
		r.Outcome, r.Code, r.TargetReference = client.Confirmed, "created", answer.ID
	case status == http.StatusTooManyRequests:
		r.Outcome, r.Code = client.NotStarted, "rate_limited"
	}
	return r
}
