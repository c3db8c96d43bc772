package api_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	httpBlock  = regexp.MustCompile("(?s)```http\n(.*?)```")
	expression = regexp.MustCompile(`\{\{([^}]*)\}\}`)
)

// recipe is one request of a recipe, as its tool would send it.
type recipe struct {
	method, path, body string
	headers            []string
}

// recipesOf reads the requests of a recipe's page; value gives what an expression stands for.
func recipesOf(t *testing.T, name string, value func(string) string) []recipe {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "systems", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []recipe
	for _, m := range httpBlock.FindAllStringSubmatch(string(doc), -1) {
		filled := expression.ReplaceAllStringFunc(m[1], func(e string) string { return value(strings.ToLower(strings.Trim(e, "{} "))) })
		head, body, _ := strings.Cut(filled, "\n\n")
		lines := strings.Split(strings.TrimSpace(head), "\n")
		r := recipe{body: strings.TrimSpace(body)}
		r.method, r.path, _ = strings.Cut(lines[0], " ")
		for _, l := range lines[1:] {
			header, v, _ := strings.Cut(l, ": ")
			r.headers = append(r.headers, header, v)
		}
		out = append(out, r)
	}
	return out
}

// Each recipe's requests work as they are written, also when the tool repeats them.
func TestRecipes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token := h.token("operations", []string{"newsletter-coupon"})
	for _, name := range []string{"n8n.md", "zapier.md", "make.md"} {
		var operation string
		last := map[string]any{} // n8n: what the node before it gave
		value := func(e string) string {
			switch {
			case strings.HasPrefix(e, "$json.") && !strings.Contains(e, "order"):
				return fromJSON(e, last)
			case e == "token":
				return token
			case strings.Contains(e, "operation"):
				return operation
			case strings.Contains(e, "order"):
				return "A-17"
			}
			t.Errorf("%s: {{%s}} stands in a request, and no test knows it", name, e)
			return ""
		}
		asked := recipesOf(t, name, value)
		if len(asked) != 2 || asked[0].method != "POST" {
			t.Fatalf("%s holds %d requests", name, len(asked))
		}
		ask := asked[0]
		send := func(r recipe) reply {
			var body any
			if r.body != "" {
				body = r.body
			}
			return h.do(r.method, h.url+r.path, "", body, r.headers...)
		}
		first, again := send(ask), send(ask)
		operation = first.text("operation")
		if first.status != 201 || operation == "" || again.status != 200 || again.body["repeated"] != true || again.text("operation") != operation {
			t.Errorf("%s: %d %s, then %d %s", name, first.status, first.raw, again.status, again.raw)
		}
		other := ask
		other.body = strings.Replace(ask.body, `"percent_off": 10`, `"percent_off": 20`, 1)
		if r := send(other); r.status != 422 || r.text("code") != "key_reused" {
			t.Errorf("%s, other content: %d %s", name, r.status, r.raw)
		}
		if r := h.do(ask.method, h.url+ask.path, token, ask.body); r.status != 400 {
			t.Errorf("%s without a key: %d", name, r.status)
		}
		last = first.body
		for round := range 2 { // the line back hands the answer to the same request again
			r := recipesOf(t, name, value)[1]
			if round > 0 {
				r.path = strings.Replace(r.path, "wait=30s", "wait=10ms", 1)
			}
			look := send(r)
			if look.status != 200 || look.text("state") != "pending_approval" || look.text("link") == "" || look.text("id") != operation {
				t.Errorf("%s, waiting: %d %s", name, look.status, look.raw)
			}
			last = look.body
		}
	}
	if n := h.Count(t, "operations"); n != 3 {
		t.Errorf("%d operations of three recipes", n)
	}
}

// fromJSON gives what an expression of n8n means: the first of its alternatives that is
// there, as in {{ $json.id || $json.operation }}.
func fromJSON(expression string, json map[string]any) string {
	for _, one := range strings.Split(expression, "||") {
		name, ok := strings.CutPrefix(strings.TrimSpace(one), "$json.")
		if !ok {
			return name
		}
		if v := json[name]; v != nil {
			return fmt.Sprint(v)
		}
	}
	return "undefined"
}
