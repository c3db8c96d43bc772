package definition

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const demo = "../../cmd/holdpoint/demo"

// Demo holds every demo definition, parsed.
type demoFiles struct {
	flows    map[string]*Flow
	profiles map[string]*Profile
	sources  map[string]*Source
}

func loadDemo(t *testing.T) demoFiles {
	t.Helper()
	d := demoFiles{map[string]*Flow{}, map[string]*Profile{}, map[string]*Source{}}
	each := func(kind string, parse func(file string, src []byte) error) {
		files, err := filepath.Glob(filepath.Join(demo, kind, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no demo %s: %v", kind, err)
		}
		for _, file := range files {
			if err := parse(filepath.Base(file), read(t, file)); err != nil {
				t.Errorf("%v", err)
			}
		}
	}
	each("flows", func(file string, src []byte) error {
		f, err := ParseFlow(file, src)
		if err == nil {
			d.flows[f.Name] = f
		}
		return err
	})
	each("profiles", func(file string, src []byte) error {
		p, err := ParseProfile(file, src)
		if err == nil {
			d.profiles[p.Destination] = p
		}
		return err
	})
	each("sources", func(file string, src []byte) error {
		s, err := ParseSource(file, src)
		if err == nil {
			d.sources[s.Name] = s
		}
		return err
	})
	return d
}

// demoEnv is the environment that the demo definitions name.
func demoEnv(name string) (string, bool) {
	v, ok := map[string]string{"SANDBOX_URL": "http://127.0.0.1:7400", "SANDBOX_SMTP": "127.0.0.1:7425"}[name]
	return v, ok
}

func TestDemo(t *testing.T) {
	d := loadDemo(t)
	events := map[string]EventData{
		"campaign-follow-up": {ActionRunID: "run-1", Data: map[string]any{"properties": map[string]any{
			"customer_ref": "C-1", "email": "kim@example.test", "campaign": "winter"}}},
		"goodwill-invoice":  {Data: map[string]any{"customer": "cus_1", "email": "kim@example.test", "amount": 500, "currency": "eur"}},
		"newsletter-coupon": {Data: map[string]any{"code": "WINTER-26", "percent_off": 10}},
		"partner-task":      {Data: map[string]any{"subject": "Pack the spring boxes"}},
		"plain-note":        {Data: map[string]any{"topic": "Window display"}},
		"call-back":         {Data: map[string]any{"customer_ref": "C-1", "phone": "+48 600 100 200", "reason": "parcel is late", "note": "After five"}},
		"spring-mailing":    {Data: map[string]any{"season": "spring", "recipients": []any{map[string]any{"email": "kim@example.test", "greeting": "Dear Kim"}}}},
	}
	written := map[string]any{"subject": "Hello", "text": "Dear customer,\nhello."}
	for name, f := range d.flows {
		src, ok := d.sources[f.Trigger.Source]
		if !ok {
			t.Errorf("%s: there is no source %s", name, f.Trigger.Source)
			continue
		}
		ev, ok := events[name]
		if !ok {
			t.Errorf("%s: this test has no event for it", name)
		}
		ev.Source, ev.Account, ev.Topic, ev.Key, ev.Time = src.Name, src.Account, f.Trigger.Topic, "k-1", time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)
		if _, err := f.Key(ev); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		inputs := f.TakeInputs(ev)
		if missing, err := f.CheckInputs(inputs); err != nil || len(missing) > 0 {
			t.Errorf("%s: missing inputs %v, %v", name, missing, err)
		}
		for _, lang := range []string{"en", "ja", "pl"} {
			if f.Title[lang] == "" {
				t.Errorf("%s has no title in %s", name, lang)
			}
		}
		for _, st := range f.Stages {
			p := d.profiles[st.Destination]
			if p == nil {
				t.Errorf("%s: there is no destination %s", name, st.Destination)
				continue
			}
			a, err := p.Action(st.Action)
			if err != nil {
				t.Error(err)
				continue
			}
			content, missing, err := demoContent(f, st, ev, inputs)
			if err != nil {
				t.Error(err)
			}
			for _, path := range missing {
				if written[path] == nil {
					t.Errorf("%s/%s: %s is missing although every input is there", name, st.Key, path)
				}
				content[path] = written[path]
			}
			v, err := a.Render(content, demoEnv, time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC))
			if err != nil {
				t.Errorf("%s/%s: %v", name, st.Key, err)
				continue
			}
			if holes := v.Request.Holes(); !slices.Contains(holes, "operation_id") {
				t.Errorf("%s/%s: the request does not carry the operation's ID: %v", name, st.Key, holes)
			}
			if _, err := v.Hash([]byte("salt")); err != nil {
				t.Errorf("%s/%s: %v", name, st.Key, err)
			}
		}
	}
	if len(d.flows) != 7 || len(d.profiles) != 6 || len(d.sources) != 5 {
		t.Errorf("%d flows, %d profiles, %d sources", len(d.flows), len(d.profiles), len(d.sources))
	}
}

// demoContent is the content that a stage begins with; where it fans out, that of its first
// item.
func demoContent(f *Flow, st Stage, ev EventData, inputs map[string]any) (map[string]any, []string, error) {
	if st.ForEach == nil {
		return f.Draft(st.Key, ev, inputs)
	}
	items, err := f.Items(st.Key, ev, inputs)
	if err != nil {
		return nil, nil, err
	}
	x, err := f.Item(st.Key, ev, inputs, items[0], nil)
	if err == nil && len(x.Problems) > 0 {
		err = fmt.Errorf("problems %v", x.Problems)
	}
	return x.Content, x.Missing, err
}
