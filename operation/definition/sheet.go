package definition

import (
	"encoding/json"
	"maps"
	"slices"
)

// Output is what a flow gives, with its name for people.
type Output struct {
	Name  string `json:"name"`
	Title Text   `json:"title"` // may be empty
}

// Brief is a prompt or a brief: what is to be written, and which edition of it this is.
type Brief struct {
	Name    string `json:"-"`
	Version string `json:"version"` // as the file says; "" = it names none
	Text    string `json:"text"`
}

// TestCase is one case that the flow is accepted by.
type TestCase struct {
	Name   string `json:"name"`
	Title  Text   `json:"title"`
	Given  Text   `json:"given"`  // how it is brought about
	Expect Text   `json:"expect"` // what must be seen then
}

// rawOutput is an output's name, or an object.
type rawOutput Output

// UnmarshalJSON reads both forms.
func (o *rawOutput) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &o.Name) == nil {
		return nil
	}
	return json.Unmarshal(b, (*Output)(o))
}

// rawBrief is a text alone, or an object with its version.
type rawBrief Brief

// UnmarshalJSON reads both forms.
func (r *rawBrief) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &r.Text) == nil {
		return nil
	}
	return json.Unmarshal(b, (*Brief)(r))
}

// rawCase is a test case's name, or an object.
type rawCase TestCase

// UnmarshalJSON reads both forms.
func (r *rawCase) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &r.Name) == nil {
		return nil
	}
	return json.Unmarshal(b, (*TestCase)(r))
}

// describe takes what the sheet shows besides; the plain lists hold the names.
func (f *Flow) describe(raw *rawFlow, p *problems) {
	f.Introduction = raw.Introduction
	for i, o := range raw.Outputs {
		if slices.Contains(f.Outputs, o.Name) {
			p.add(item("outputs", i), "two outputs have the name %q", o.Name)
		}
		f.Outputs, f.OutputsOf = append(f.Outputs, o.Name), append(f.OutputsOf, Output(o))
	}
	for i, c := range raw.TestCases {
		if slices.Contains(f.TestCases, c.Name) {
			p.add(item("test_cases", i), "two test cases have the name %q", c.Name)
		}
		f.TestCases, f.Cases = append(f.TestCases, c.Name), append(f.Cases, TestCase(c))
	}
	for _, name := range slices.Sorted(maps.Keys(raw.Prompts)) {
		b := Brief(raw.Prompts[name])
		b.Name = name
		if f.Prompts == nil {
			f.Prompts = map[string]string{}
		}
		f.Prompts[name] = b.Text
		f.Briefs = append(f.Briefs, b)
	}
}
