package definition

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// minimal is the smallest profile; tests change one thing at a time.
const minimal = `destination: d
title: {en: D}
kind: http
account: a
environment: test
base_url: https://d.example
actions:
  act:
    effect: thing
    request: {method: POST, path: /things, json: {text: "${content.text}", ref: "{operation_id}"}}
    outcome:
      - {confirmed: ${status == 201}}
`

// problemsOf parses a profile and gives its problems.
func problemsOf(t *testing.T, src string) Problems {
	t.Helper()
	_, err := ParseProfile("p.yaml", []byte(src))
	if err == nil {
		return nil
	}
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("the error is no list of problems: %v", err)
	}
	return ps
}

func TestParse(t *testing.T) {
	if ps := problemsOf(t, minimal); len(ps) > 0 {
		t.Fatalf("the minimal profile is refused: %v", ps)
	}
	swap := func(old, new string) string {
		if !strings.Contains(minimal, old) {
			t.Fatalf("%q is not in the minimal profile", old)
		}
		return strings.Replace(minimal, old, new, 1)
	}
	for name, c := range map[string]struct{ src, want string }{
		"RefusesUnknownKey":          {swap("account: a", "account: a\ncolour: red"), "p.yaml:5: colour: this field is not known"},
		"RefusesUnknownKeyDeepDown":  {swap("effect: thing", "effect: thing\n    efect: x"), "p.yaml:10: actions.act.efect: this field is not known"},
		"RefusesDuplicateKey":        {swap("account: a", "account: a\naccount: b"), `p.yaml:5: mapping key "account" already defined`},
		"RefusesDuplicateInFlow":     {swap("{en: D}", "{en: D, en: E}"), `already defined`},
		"RefusesMissingField":        {swap("account: a\n", ""), "account: this field is missing"},
		"RefusesAnchor":              {swap("account: a", "account: &x a"), "anchors, aliases, tags"},
		"RefusesAlias":               {swap("account: a", "account: *x"), "p.yaml:4"},
		"RefusesTag":                 {swap("account: a", "account: !!str a"), "anchors, aliases, tags"},
		"RefusesMergeKey":            {swap("effect: thing", "effect: thing\n    <<: {a: 1}"), "p.yaml:10"},
		"RefusesTwoDocuments":        {minimal + "---\nx: 1\n", "exactly one YAML document"},
		"RefusesEmptyFile":           {"", "exactly one YAML document"},
		"RefusesByteOrderMark":       {"\uFEFF" + minimal, "byte-order mark"},
		"RefusesForgedHoleMark":      {swap("effect: thing", "effect: thing # \uE000"), "private-use mark"},
		"RefusesBrokenUTF8":          {minimal + "# \xff", "not UTF-8"},
		"RefusesLargeFile":           {minimal + "#" + strings.Repeat("x", MaxFile), "larger than 256 KiB"},
		"RefusesOctalNumber":         {swap("account: a", "account: a\nretry: {max: 010}"), "not a plain decimal number"},
		"RefusesHugeNumber":          {swap(`ref: "{operation_id}"`, "ref: 9007199254740993"), "cannot be held exactly"},
		"RefusesBadDuration":         {swap("account: a", "account: a\nsettle_after: 2 minutes"), "p.yaml:5: settle_after"},
		"RefusesBadExpression":       {swap("status == 201", "status = 201"), "p.yaml:12: actions.act.outcome[0].confirmed: the expression"},
		"RefusesUnknownVariable":     {swap("status == 201", "inputs.x == 201"), "undeclared reference to 'inputs'"},
		"RefusesRuleThatIsText":      {swap("${status == 201}", `${"yes"}`), "must be true or false"},
		"RefusesUnclosedExpression":  {swap(`"${content.text}"`, `"${content.text"`), "an expression is not closed"},
		"RefusesTwoVerdictsInOne":    {swap("{confirmed: ${status == 201}}", "{confirmed: ${true}, unknown: ${true}}"), "exactly one of"},
		"RefusesNotStartedNoCode":    {swap("confirmed: ${status == 201}", "not_started: ${status == 404}"), "needs a code"},
		"RefusesLookupRuleNoLookup":  {swap("confirmed: ${status == 201}", "lookup: ${status == 409}"), "has no lookup"},
		"RefusesTwoBodies":           {swap("json: {", "form: {a: b}, json: {"), "one body"},
		"RefusesOwnAuthorization":    {swap("json: {", "headers: {authorization: x}, json: {"), "set by the program"},
		"RefusesQueryInPath":         {swap("/things", "/things?x=1"), "a path holds no ?"},
		"RefusesHTTPElsewhere":       {swap("https://d.example", "http://d.example"), "local destination only"},
		"RefusesUserInURL":           {swap("https://d.example", "https://me:pw@d.example"), "no user"},
		"RefusesRetentionWithoutKey": {swap("effect: thing", "effect: thing\n    protection: {retention: 24h}"), "without a key"},
		"RefusesMarginLikeRetention": {swap("effect: thing", "effect: thing\n    protection: {key: {header: K, value: \"{key}\"}, retention: 1h}"), "uses up the whole retention"},
		"RefusesKeyWithoutHole":      {swap("effect: thing", "effect: thing\n    protection: {key: {header: K, value: fixed}}"), "protection.key.value"},
		"RefusesShortLease":          {swap("account: a", "account: a\nlease: 10s\nlimits: {timeout: 10s}"), "could outlive it"},
		"RefusesTwoCredentials":      {swap("account: a", "account: a\nauth: {bearer: {env: A}, none: true}"), "auth"},
		"RefusesPlainAuthOverHTTP":   {swap("account: a", "account: a\nauth: {plain: {user: {env: U}, secret: {env: P}}}"), "plain is for SMTP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := problemsOf(t, c.src).Error(); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestParse_SurvivesDeepNesting(t *testing.T) {
	for name, src := range map[string]string{
		"Brackets":     "a: " + strings.Repeat("[", 100_000),
		"Braces":       strings.Repeat("{a: ", 60_000),
		"Dashes":       strings.Repeat("- ", 100_000) + "a",
		"QuestionMark": strings.Repeat("? ", 100_000) + "a",
		"Tags":         "a: " + strings.Repeat("!!x ", 50_000),
		"Anchors":      "a: " + strings.Repeat("&a ", 50_000) + "b",
		"Indentation":  deepYAML(600),
		"Expression":   strings.Replace(minimal, "status == 201", strings.Repeat("(", 4000)+"true"+strings.Repeat(")", 4000), 1),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			if len(problemsOf(t, src)) == 0 {
				t.Error("it was accepted")
			}
			if d := time.Since(start); d > 3*time.Second {
				t.Errorf("it took %s", d)
			}
		})
	}
}

func deepYAML(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestQuoteExpressions(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"BlockValue":       {`a: ${b.c}`, `a: '${b.c}'`},
		"FlowValue":        {`{a: ${b.c}, d: ${e}}`, `{a: '${b.c}', d: '${e}'}`},
		"ListEntry":        {`- ${a}`, `- '${a}'`},
		"FlowList":         {`[${a}, ${b}]`, `['${a}', '${b}']`},
		"MapInside":        {`a: ${{"x": 1}.x}`, `a: '${{"x": 1}.x}'`},
		"BraceInString":    {`a: ${"}" + b}`, `a: '${"}" + b}'`},
		"EscapedQuote":     {`a: ${"\"}" + b}`, `a: '${"\"}" + b}'`},
		"SingleQuotes":     {`a: ${'x' + b}`, `a: '${''x'' + b}'`},
		"ColonAndHash":     {`a: ${b ? "x: #" : "y"}`, `a: '${b ? "x: #" : "y"}'`},
		"CommentAfter":     {`a: ${b} # why`, `a: '${b}' # why`},
		"AlreadyQuoted":    {`a: "${b}"`, `a: "${b}"`},
		"InsideText":       {`a: "x, ${b}, y"`, `a: "x, ${b}, y"`},
		"QuotedEscapes":    {`a: "x \", ${b}"`, `a: "x \", ${b}"`},
		"SingleQuotedText": {`a: 'it''s, ${b}'`, `a: 'it''s, ${b}'`},
		"Comment":          {`# a: ${b}`, `# a: ${b}`},
		"Mixed":            {`a: ${b}-${c}`, `a: ${b}-${c}`},
		"Unclosed":         {`a: ${b`, `a: ${b`},
		"BlockScalar":      {"a: |\n  b: ${c}\n\n  - ${d}\ne: ${f}", "a: |\n  b: ${c}\n\n  - ${d}\ne: '${f}'"},
		"FoldedScalar":     {"a: >-\n  ${c}\nb: 1", "a: >-\n  ${c}\nb: 1"},
		"Apostrophe":       {"a: it's\nb: ${c}", "a: it's\nb: '${c}'"},
		"QuotedOverLines":  {"a: \"x\n  b: ${c}\n  y\"\nd: ${e}", "a: \"x\n  b: ${c}\n  y\"\nd: '${e}'"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quoteExpressions(c.in); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDecodeJSON(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		code JSONErrorCode
		key  string
	}{
		"AcceptsObject":            {in: `{"a":{"b":[1,null,"x"]}}`},
		"AcceptsScalar":            {in: `7`},
		"AcceptsPairOfSurrogates":  {in: `"\ud83d\ude00 \\ud800"`},
		"AcceptsSameKeyElsewhere":  {in: `{"a":{"a":1},"b":{"a":2}}`},
		"RefusesDuplicateKey":      {`{"a":1,"a":1}`, JSONDuplicateKey, "a"},
		"RefusesEscapedDuplicate":  {`{"a":1,"\u0061":2}`, JSONDuplicateKey, "a"},
		"RefusesCaseVariant":       {`{"id":1,"ID":2}`, JSONCaseVariantKey, "ID"},
		"RefusesLongSVariant":      {`{"s":1,"ſ":2}`, JSONCaseVariantKey, "ſ"},
		"RefusesDuplicateDeepDown": {`[{"x":{"k":1,"k":2}}]`, JSONDuplicateKey, "k"},
		"RefusesTrailingValue":     {`{} {}`, JSONTrailing, ""},
		"RefusesTrailingBrace":     {`{}}`, JSONTrailing, ""},
		"RefusesEmpty":             {``, JSONSyntax, ""},
		"RefusesCut":               {`{"a":[1,`, JSONSyntax, ""},
		"RefusesComment":           {`{"a":1/*x*/}`, JSONSyntax, ""},
		"RefusesNaN":               {`NaN`, JSONSyntax, ""},
		"RefusesByteOrderMark":     {"\uFEFF{}", JSONByteOrderMark, ""},
		"RefusesBrokenUTF8":        {"\"\xff\"", JSONEncoding, ""},
		"RefusesHalfSurrogate":     {`"\ud800"`, JSONEncoding, ""},
		"RefusesLowSurrogate":      {`"x\udc00"`, JSONEncoding, ""},
		"RefusesReversedPair":      {`"\ude00\ud83d"`, JSONEncoding, ""},
		"RefusesDeepNesting":       {strings.Repeat("[", MaxJSONDepth+2) + strings.Repeat("]", MaxJSONDepth+2), JSONTooDeep, ""},
		"RefusesVeryDeepNesting":   {strings.Repeat("[", 1_000_000), JSONTooDeep, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeJSON([]byte(c.in))
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var je *JSONError
			if !errors.As(err, &je) || je.Code != c.code || je.Key != c.key {
				t.Errorf("got %v, want %s %q", err, c.code, c.key)
			}
		})
	}
}

func TestDecodeJSON_KeepsNumbersExactly(t *testing.T) {
	v, err := DecodeJSON([]byte(`{"id":9007199254740993,"price":19.90,"big":1e400}`))
	if err != nil {
		t.Fatal(err)
	}
	m := v.(map[string]any)
	for name, want := range map[string]json.Number{"id": "9007199254740993", "price": "19.90", "big": "1e400"} {
		if m[name] != want {
			t.Errorf("%s is %v, want %s", name, m[name], want)
		}
	}
	if got := string(StripBOM([]byte("\uFEFF{}"))); got != "{}" {
		t.Errorf("StripBOM gives %q", got)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":[1,2.5,-0,1e9,null,true]}`, `"\ud83d\ude00"`, `{"a":1,"A":2}`, `[[[]]]`, ` 1 `, `{"a":9007199254740993}`, "\"\\u0000\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := DecodeJSON(raw)
		if err != nil {
			return
		}
		again, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("a decoded value cannot be written: %v", err)
		}
		w, err := DecodeJSON(again)
		if err != nil {
			t.Fatalf("written %s is refused: %v", again, err)
		}
		if twice, _ := json.Marshal(w); string(twice) != string(again) {
			t.Fatalf("changed from %s to %s", again, twice)
		}
	})
}

func FuzzParseProfile(f *testing.F) {
	f.Add(minimal)
	f.Add("a: &x [*x]")
	f.Add("a: |\n  ${x}\n- b")
	f.Add("{a: ${\"}\"}, b: '${''x''}'}")
	if raw, err := os.ReadFile("testdata/billing.yaml"); err == nil {
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := ParseProfile("p.yaml", []byte(src))
		if err != nil {
			var ps Problems
			if !errors.As(err, &ps) || len(ps) == 0 || ps[0].Text == "" {
				t.Fatalf("no problems in %v", err)
			}
			return
		}
		for _, a := range p.Actions {
			if explained(a) == "" {
				t.Fatal("an action reads as nothing")
			}
			a.Classify(Context{}, Answer{Status: 200})
			_, _ = a.Render(map[string]any{"text": "x"}, nil, time.Time{})
		}
	})
}
