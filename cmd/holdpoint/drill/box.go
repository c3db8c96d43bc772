package drill

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
)

// box is the running sandbox: the judge of every case.
type box struct {
	url string
	*child
}

// effect is one thing that really exists at a destination.
type effect struct {
	Effect      string         `json:"effect"`
	ID          string         `json:"id"`
	Reference   string         `json:"reference"`
	Key         string         `json:"key"`
	RequestHash string         `json:"request_hash"` // hex SHA-256 of the exact body received
	Fields      map[string]any `json:"fields"`
}

// request is one request as a destination received it.
type request struct {
	Method  string      `json:"method"`
	Path    string      `json:"path"`
	Headers http.Header `json:"headers"`
	Body    string      `json:"body"`
	Fault   string      `json:"fault"`
}

// findSandbox gives the sandbox program: the one that is named, the one beside the
// binary, or one built from the checkout into dir.
func findSandbox(ctx context.Context, named, binary, dir string) (string, error) {
	if named != "" {
		_, err := os.Stat(named)
		return named, err
	}
	beside := filepath.Join(filepath.Dir(binary), "sandbox")
	if _, err := os.Stat(beside); err == nil {
		return beside, nil
	}
	built := filepath.Join(dir, "sandbox")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", built, "holdpoint/cmd/sandbox").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("no sandbox beside %s, and it cannot be built here (use --sandbox PATH): %w\n%s", binary, err, bytes.TrimSpace(out))
	}
	return built, nil
}

// startBox starts the sandbox on a free port and reads its address from its first line.
func startBox(ctx context.Context, path string, log io.Writer) (*box, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c, err := startChild("sandbox", os.Environ(), log, w, path, "--addr", "127.0.0.1:0", "--smtp-addr", "")
	w.Close()
	if err != nil {
		return nil, err
	}
	_ = r.SetReadDeadline(time.Now().Add(15 * time.Second))
	line, err := bufio.NewReader(r).ReadString('\n')
	var said struct{ Addr string }
	if err == nil {
		err = json.Unmarshal([]byte(line), &said)
	}
	if err != nil {
		c.kill()
		return nil, fmt.Errorf("the sandbox did not say its address: %w", err)
	}
	return &box{url: "http://" + said.Addr, child: c}, ctx.Err()
}

// fault orders one misbehaviour; more gives further fields of POST /_control/faults.
func (b *box) fault(ctx context.Context, destination, fault string, more map[string]any) error {
	order := map[string]any{"destination": destination, "fault": fault}
	for k, v := range more {
		order[k] = v
	}
	return b.call(ctx, http.MethodPost, "/_control/faults", order, nil)
}

func (b *box) clearFaults(ctx context.Context, destination string) error {
	return b.call(ctx, http.MethodDelete, "/_control/faults?"+url.Values{"destination": {destination}}.Encode(), nil, nil)
}

// calm clears what a case left waiting, so that none disturbs the next.
func (b *box) calm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, d := range []string{"crm", "billing", "mail"} {
		if err := b.clearFaults(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// retention tells a destination how long its keys protect.
func (b *box) retention(ctx context.Context, destination, keys string) error {
	return b.call(ctx, http.MethodPost, "/_control/settings", map[string]any{"destination": destination, "retention": keys}, nil)
}

// behind tells a destination how long a new effect stays hidden from its search.
func (b *box) behind(ctx context.Context, destination, lag string) error {
	return b.call(ctx, http.MethodPost, "/_control/settings", map[string]any{"destination": destination, "index_lag": lag}, nil)
}

// ledger gives the effects of an operation that exist at a destination.
func (b *box) ledger(ctx context.Context, destination string, id operation.ID) ([]effect, error) {
	var out struct{ Effects []effect }
	err := b.call(ctx, http.MethodGet, "/_control/ledger?"+url.Values{"destination": {destination}, "reference": {string(id)}}.Encode(), nil, &out)
	return out.Effects, err
}

// sends gives the requests with an effect that a destination received for an operation.
func (b *box) sends(ctx context.Context, destination string, id operation.ID) ([]request, error) {
	var out struct{ Requests []request }
	err := b.call(ctx, http.MethodGet, "/_control/requests?"+url.Values{"destination": {destination}}.Encode(), nil, &out)
	return slices.DeleteFunc(out.Requests, func(r request) bool {
		return r.Method != http.MethodPost || !strings.Contains(r.Body, string(id))
	}), err
}

// untilSent waits until a destination has received n requests for an operation.
func (b *box) untilSent(ctx context.Context, destination string, id operation.ID, n int) error {
	for {
		have, err := b.sends(ctx, destination, id)
		if err != nil || len(have) >= n {
			return err
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%s received %d requests, waited for %d: %w", destination, len(have), n, err)
		}
	}
}

// untilEffects waits until the ledger holds n effects of an operation.
func (b *box) untilEffects(ctx context.Context, destination string, id operation.ID, n int) error {
	var out struct{ Reached bool }
	err := b.call(ctx, http.MethodGet, "/_control/wait?"+url.Values{"destination": {destination}, "reference": {string(id)},
		"effects": {strconv.Itoa(n)}, "timeout": {"10s"}}.Encode(), nil, &out)
	if err == nil && !out.Reached {
		err = fmt.Errorf("the ledger of %s did not come to %d effects", destination, n)
	}
	return err
}

func (b *box) call(ctx context.Context, method, path string, in, out any) error {
	return callJSON(ctx, method, b.url+path, "application/json", "", in, out)
}

// callJSON makes one HTTP call with a JSON body and reads the JSON answer. An answer
// that is not 2xx is an *answered error.
func callJSON(ctx context.Context, method, address, contentType, token string, in, out any) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300:
		a := &answered{status: resp.StatusCode, body: string(raw)}
		_ = json.Unmarshal(raw, a)
		return a
	case out == nil:
		return nil
	}
	return json.Unmarshal(raw, out)
}

// answered is an answer other than 2xx, with the job API's stable code if it has one.
type answered struct {
	Code   string `json:"code"`
	status int
	body   string
}

// Error gives status and body.
func (a *answered) Error() string { return fmt.Sprintf("%d: %.500s", a.status, a.body) }
