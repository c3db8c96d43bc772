package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdpoint/operation"
)

func letterFlow(t testing.TB) *Flow {
	t.Helper()
	raw, _ := os.ReadFile("testdata/batch.yaml")
	f, err := ParseFlow("batch.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestForEach_Parses(t *testing.T) {
	f := letterFlow(t)
	note, letter := f.Stages[0].ForEach, f.Stages[1].ForEach
	if note.Input != "recipients" || letter.Input != "" || letter.Follows != "note" || letter.Canary != 50 || note.Currency != "EUR" {
		t.Errorf("%+v\n%+v", note, letter)
	}
	if want := (operation.BatchLimits{Last: 200, Errors: 100, Unknown: 25, Bounced: 50}); note.PauseWhen != want {
		t.Errorf("limits %+v", note.PauseWhen)
	}
	if letter.PauseWhen != operation.DefaultBatchLimits {
		t.Errorf("limits %+v", letter.PauseWhen)
	}
	if f.Stages[0].SatisfiedBy != SatisfiedEveryClosed || f.Stages[1].SatisfiedBy != SatisfiedEveryConfirmed {
		t.Error("what satisfies the stages is wrong")
	}
	if got := f.ListInputs(); !slices.Equal(got, []string{"recipients"}) || len(f.LostInputs()) > 0 {
		t.Errorf("lists %v, lost %v", got, f.LostInputs())
	}
	if _, _, err := f.Draft("letter", EventData{}, nil); err == nil {
		t.Error("a fanned-out stage has no draft of its own")
	}
}

func TestForEach_Refuses(t *testing.T) {
	raw, _ := os.ReadFile("testdata/batch.yaml")
	src := string(raw)
	cases := []struct{ name, old, new, field, says string }{
		{"canary", "canary: 50", "canary: 0", "stages[1].for_each.canary", ""},
		{"share", "errors: 10%", "errors: 101%", "stages[0].for_each.pause_when.errors", ""},
		{"no list", "in: ${inputs.recipients}\n", "in: ${inputs.season}\n", "stages[0].for_each.in", "no list"},
		{"no input", "in: ${inputs.recipients}\n", "in: ${inputs.people}\n", "stages[0].for_each.in", "no input"},
		{"no expression", "in: ${inputs.recipients}\n", "in: recipients\n", "stages[0].for_each.in", "one expression"},
		{"key of all", "key: ${item.email}\n      pause_when", "key: ${inputs.season}\n      pause_when", "stages[0].for_each.key", "from the item"},
		{"whole list", "orders: ${item.?orders}", "orders: ${size(inputs.recipients)}", "stages[0].content.orders", "whole list"},
		{"item elsewhere", "for_each:\n      in: ${inputs.recipients}\n      key: ${item.email}\n      pause_when: {last: 200, errors: 10%, unknown: 2.5%}\n      total: ${item.?cents}\n      currency: EUR\n    content", "content", "stages[0].content.orders", "item"},
		{"same item alone", "pause_when: {last: 200, errors: 10%, unknown: 2.5%}", "same_item: true", "stages[0].for_each.same_item", "no earlier stage"},
		{"other keys", "key: ${item.email}\n      same_item", "key: ${item.name}\n      same_item", "stages[1].for_each.same_item", "same key"},
		{"no key", "key: ${item.email}\n      same_item", "same_item", "stages[1].for_each.same_item", "same key"},
		{"satisfied", "satisfied_by: every_item_closed", "satisfied_by: confirmed", "stages[0].satisfied_by", "every_item"},
		{"required", "pause_when: {last: 200, errors: 10%, unknown: 2.5%}", "required: [family]", "stages[0].for_each.required[0]", "family"},
		{"currency", "total: ${item.?cents}\n", "\n", "stages[0].for_each.currency", "total"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(src, c.old) {
				t.Fatal("the case changes nothing")
			}
			_, err := ParseFlow("batch.yaml", []byte(strings.Replace(src, c.old, c.new, 1)))
			var ps Problems
			if !errors.As(err, &ps) {
				t.Fatalf("no problem: %v", err)
			}
			for _, p := range ps {
				if p.Field == c.field && p.Line > 0 && strings.Contains(p.Text, c.says) {
					return
				}
			}
			t.Errorf("problems: %v", err)
		})
	}
	_, err := ParseFlow("f.yaml", []byte(minimalFlow+"    satisfied_by: every_item_closed\n"))
	if err == nil || !strings.Contains(err.Error(), "f.yaml:18") {
		t.Errorf("a plain stage took a rule about items: %v", err)
	}
}

func TestItems(t *testing.T) {
	f := letterFlow(t)
	list := []any{map[string]any{"email": "a@example.test"}, map[string]any{"email": "b@example.test", "mailing": false}, "c@example.test"}
	got, err := f.Items("note", EventData{}, map[string]any{"recipients": list})
	if err != nil || len(got) != 3 || got[2]["value"] != "c@example.test" {
		t.Errorf("%v, %v", got, err)
	}
	got, err = f.Items("letter", EventData{}, map[string]any{"recipients": list[:2]})
	if err != nil || len(got) != 1 || got[0]["email"] != "a@example.test" {
		t.Errorf("%v, %v", got, err)
	}
	for code, in := range map[string]map[string]any{"missing": {}, "no_list": {"recipients": "all"}, "rows": {"recipients": make([]any, MaxListItems+1)}} {
		var le *ListError
		if _, err := f.Items("note", EventData{}, in); !errors.As(err, &le) || le.Code != code {
			t.Errorf("%s: %v", code, err)
		}
	}
	wrong, err := f.CheckInputs(map[string]any{"season": "winter"}, "recipients")
	if err != nil || len(wrong) > 0 {
		t.Errorf("%v %v", wrong, err)
	}
	if wrong, _ = f.CheckInputs(map[string]any{"season": "winter", "recipients": []any{map[string]any{"email": 3}}}); len(wrong) > 0 {
		t.Errorf("a row was judged with the inputs: %v", wrong)
	}
	if wrong, _ = f.CheckInputs(map[string]any{"season": "winter"}); !slices.Equal(wrong, []string{"recipients"}) {
		t.Errorf("the list is not missed: %v", wrong)
	}
}

var letterText = map[string]string{"subject": "For {{ name }}", "text": "Dear {{name}}, {{orders}} orders so far."}

func TestItem(t *testing.T) {
	f := letterFlow(t)
	num := func(s string) json.Number { return json.Number(s) }
	in := map[string]any{"season": "winter"}
	for _, c := range []struct {
		name     string
		item     map[string]any
		shared   map[string]string
		problems []ItemProblem
		missing  []string
		content  map[string]any
	}{
		{"whole", map[string]any{"email": "a@example.test", "name": "Kim", "orders": num("3")}, letterText, nil, nil,
			map[string]any{"to": "a@example.test", "subject": "For Kim", "text": "Dear Kim, 3 orders so far.", "season": "winter"}},
		{"shared text to be written", map[string]any{"email": "a@example.test", "name": "Kim", "orders": num("3")}, map[string]string{"subject": "Hello", "text": " "}, nil, []string{"text"},
			map[string]any{"to": "a@example.test", "subject": "Hello", "season": "winter"}},
		{"no address", map[string]any{"name": "Kim", "orders": num("3")}, letterText, []ItemProblem{{ProblemEmpty, "email"}}, nil, nil},
		{"unresolved", map[string]any{"email": "a@example.test", "name": "Kim"}, letterText, []ItemProblem{{ProblemUnresolved, "orders"}}, nil, nil},
		{"blank", map[string]any{"email": "a@example.test", "name": " ", "orders": num("3")}, letterText, []ItemProblem{{ProblemEmpty, "name"}}, nil, nil},
		{"markup", map[string]any{"email": "a@example.test", "name": "<b>Kim", "orders": num("3")}, letterText, []ItemProblem{{ProblemMarkup, "name"}}, nil, nil},
		{"tag in a value", map[string]any{"email": "a@example.test", "name": "*|FNAME|*", "orders": num("3")}, letterText, []ItemProblem{{ProblemMergeTag, "name"}}, nil, nil},
		{"tag in a value, before the text that may name it is written", map[string]any{"email": "a@example.test", "name": "{{first}}", "orders": num("3")}, nil, []ItemProblem{{ProblemMergeTag, "name"}}, []string{"subject", "text"}, nil},
		{"tag in a value, of one text that is not written", map[string]any{"email": "a@example.test", "name": "Kim", "nick": "%%nick%%", "orders": num("3")}, map[string]string{"subject": "Hello"}, []ItemProblem{{ProblemMergeTag, "nick"}}, []string{"text"}, nil},
		{"tag in a value that no text names", map[string]any{"email": "a@example.test", "name": "Kim", "nick": "%%nick%%", "orders": num("3")}, letterText, nil, nil, nil},
		{"tag where no text can name it", map[string]any{"email": "a@example.test", "name": "Kim", "our note": "{{x}}", "nicks": []any{"{{y}}"}, "orders": num("3")}, nil, nil, []string{"subject", "text"}, nil},
		{"place of the template inside a value is not filled", map[string]any{"email": "a@example.test", "name": "{{orders}}", "orders": num("3")}, letterText, []ItemProblem{{ProblemMergeTag, "name"}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := f.Item("letter", EventData{}, in, c.item, c.shared)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(got.Problems, compareProblems)
			slices.SortFunc(c.problems, compareProblems)
			if !slices.Equal(got.Problems, c.problems) || !slices.Equal(got.Missing, c.missing) {
				t.Errorf("problems %v, missing %v", got.Problems, got.Missing)
			}
			if c.content != nil && !reflect.DeepEqual(got.Content, c.content) {
				t.Errorf("content %v", got.Content)
			}
			if len(c.problems) == 0 && got.Key != "a@example.test" {
				t.Errorf("key %q", got.Key)
			}
		})
	}
}

func compareProblems(a, b ItemProblem) int { return strings.Compare(a.Code+a.Field, b.Code+b.Field) }

func TestItem_Amount(t *testing.T) {
	f := letterFlow(t)
	for in, want := range map[any]struct {
		amount int64
		bad    bool
	}{json.Number("1250"): {1250, false}, "1250": {1250, true}, json.Number("12.5"): {0, true}, "a lot": {0, true}, nil: {0, false}} {
		it := map[string]any{"email": "a@example.test", "name": "Kim"}
		if in != nil {
			it["cents"] = in
		}
		got, err := f.Item("note", EventData{}, nil, it, nil)
		if err != nil {
			t.Fatal(err)
		}
		// The list's schema says it of the field; the amount made of it is not told besides.
		if bad := slices.Equal(got.Problems, []ItemProblem{{ProblemItem, "cents"}}); got.Amount != want.amount || bad != want.bad {
			t.Errorf("%v: %d, %v", in, got.Amount, got.Problems)
		}
	}
}

// One cause is told once, by the first that finds it; what has another cause is told as well.
func TestItem_TellsACauseOnce(t *testing.T) {
	f := letterFlow(t)
	text := map[string]string{"subject": "{{name}}, {{name}}!", "text": "Dear {{name}}, [[tag]] {{orders}}."}
	for _, c := range []struct {
		item     map[string]any
		problems []ItemProblem
		told     []string
	}{
		{map[string]any{"email": "a@example.test", "orders": json.Number("3")}, []ItemProblem{{ProblemEmpty, "name"}, {ProblemMergeTag, "text"}}, []string{"subject", "text"}},
		{map[string]any{"name": "%%who%%", "orders": json.Number("3")}, []ItemProblem{{ProblemEmpty, "email"}, {ProblemMergeTag, "name"}}, []string{"subject", "text", "to"}},
	} {
		got, err := f.Item("letter", EventData{}, map[string]any{"season": "winter"}, c.item, text)
		slices.Sort(got.Told)
		if err != nil || !slices.Equal(got.Problems, c.problems) || !slices.Equal(got.Told, c.told) {
			t.Errorf("%v: %v, told %v (%v)", c.item, got.Problems, got.Told, err)
		}
	}
}

// What the list's schema says holds for each item alone, and no row spoils another.
func TestItem_Schema(t *testing.T) {
	got, err := letterFlow(t).Item("note", EventData{}, nil, map[string]any{"name": "Kim", "orders": "three"}, nil)
	slices.SortFunc(got.Problems, compareProblems)
	if want := []ItemProblem{{ProblemItem, "email"}, {ProblemItem, "orders"}}; err != nil || !slices.Equal(got.Problems, want) {
		t.Errorf("%v, %v", got.Problems, err)
	}
}

func TestHasMergeTag(t *testing.T) {
	for text, want := range map[string]bool{"{{name}}": true, "{{ a.b | upper }}": true, "*|FNAME|*": true, "%%first%%": true, "[[name]]": true, "<% x %>": true, "${name}": true,
		"50% off, really 50%": false, "{a}": false, "[1]": false, "*bold* | more": false, "a < b": false, "$5": false, "100%%": false} {
		if hasMergeTag(text) != want {
			t.Errorf("%q", text)
		}
	}
	if got := SharedFields("Dear {{ name }}, {{name}} of {{address.city}}, {{ 1st }}"); !slices.Equal(got, []string{"name", "address.city"}) {
		t.Errorf("fields %v", got)
	}
}

func BenchmarkItemMaker(b *testing.B) {
	f := letterFlow(b)
	m, err := f.ItemMaker("letter", EventData{}, map[string]any{"season": "winter"}, letterText)
	if err != nil {
		b.Fatal(err)
	}
	items := make([]map[string]any, 1000)
	for i := range items {
		items[i] = map[string]any{"email": fmt.Sprintf("person-%d@example.test", i), "name": fmt.Sprintf("Person %d", i), "orders": json.Number("3")}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if got := m.Item(items[i%len(items)]); len(got.Problems) > 0 {
			b.Fatal(got.Problems)
		}
	}
}
