package store

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// checking looks at definition files together with what is in use already.
type checking struct {
	*tx
	set      fileSet
	actions  map[string]*definition.Profile // by destination, as they will be
	sources  map[string]bool
	problems definition.Problems
}

// check finds what cannot work, before anything is written.
func (c *checking) check() error {
	flows, err := c.load()
	if err != nil {
		return err
	}
	for _, f := range flows {
		c.references(f)
	}
	for _, d := range c.set.all {
		if d.kind == KindFlow {
			if err := c.policies(d); err != nil {
				return err
			}
		}
	}
	if len(c.problems) > 0 {
		return c.problems
	}
	return nil
}

// load gives every flow as it will be: those of the files, and those in use.
func (c *checking) load() ([]*defined, error) {
	c.actions, c.sources = map[string]*definition.Profile{}, map[string]bool{}
	type named struct {
		Name    string `db:"name"`
		Version int    `db:"version"`
	}
	var have []named
	if err := c.list(&have, `SELECT name, version FROM destinations`); err != nil {
		return nil, err
	}
	for _, h := range have {
		p, err := c.s.profileVersion(c.ctx, c.Tx, h.Name, h.Version)
		if err != nil {
			return nil, err
		}
		c.actions[h.Name] = p
	}
	for name, d := range c.set.profiles {
		c.actions[name] = d.profile
	}
	var names []string
	if err := c.list(&names, `SELECT name FROM sources`); err != nil {
		return nil, err
	}
	for _, n := range names {
		c.sources[n] = true
	}
	for n := range c.set.sources {
		c.sources[n] = true
	}
	flows := slices.Collect(maps.Values(c.set.flows))
	have = nil
	if err := c.list(&have, `SELECT name, version FROM flows`); err != nil {
		return nil, err
	}
	for _, h := range have {
		if c.set.flows[h.Name] != nil {
			continue
		}
		f, err := c.s.flowVersion(c.ctx, c.Tx, h.Name, h.Version)
		if err != nil {
			return nil, err
		}
		flows = append(flows, &defined{kind: KindFlow, name: h.Name, flow: f, file: File{Name: "flow " + h.Name + " (in use)"}})
	}
	slices.SortFunc(flows, func(x, y *defined) int {
		if x.name < y.name {
			return -1
		}
		return 1
	})
	return flows, nil
}

func (c *checking) problem(d *defined, field, format string, args ...any) {
	c.problems = append(c.problems, definition.Problem{File: d.file.Name, Field: field, Text: fmt.Sprintf(format, args...)})
}

// references checks every name that a flow uses.
func (c *checking) references(d *defined) {
	f := d.flow
	if !c.sources[f.Trigger.Source] {
		c.problem(d, "trigger.source", "there is no source %q", f.Trigger.Source)
	}
	earlier, fans := map[string]bool{}, map[string]bool{}
	for i, st := range f.Stages {
		at := fmt.Sprintf("stages[%d].", i)
		if p := c.actions[st.Destination]; p == nil {
			c.problem(d, at+"destination", "there is no destination %q", st.Destination)
		} else if act, err := p.Action(st.Action); err != nil {
			c.problem(d, at+"action", "destination %s has no action %q", st.Destination, st.Action)
		} else {
			for _, stage := range act.EarlierStages() {
				switch {
				case !earlier[stage]:
					c.problem(d, at+"action", "the request of %s holds {target_ref(%s)}, and no earlier stage has the key %q", st.Action, stage, stage)
				case fans[stage] && (st.ForEach == nil || st.ForEach.Follows != stage):
					c.problem(d, at+"action", "the request of %s holds {target_ref(%s)}, and stage %q has one for each of its items: only a stage with same_item after it can use it", st.Action, stage, stage)
				}
			}
			c.fanOut(d, at+"for_each", st, act)
		}
		for _, stage := range targetRefs(st.Content) {
			if !earlier[stage] {
				c.problem(d, at+"content", "{target_ref(%s)} names no earlier stage", stage)
			}
		}
		earlier[st.Key], fans[st.Key] = true, st.ForEach != nil
	}
}

// fanOut checks what a stage's list asks of its action: items need something by which they
// are told apart.
func (c *checking) fanOut(d *defined, at string, st definition.Stage, act *definition.Action) {
	x := st.ForEach
	if x != nil && x.Key == "" && !act.NamesRecipients() {
		c.problem(d, at+".key", "the action %s names no recipient, so each item needs a key: ${item.…}", st.Action)
	}
}

var targetRef = regexp.MustCompile(`\{target_ref\(([^)]*)\)\}`)

// targetRefs lists the stages whose target reference a content asks for.
func targetRefs(v any) []string {
	var out []string
	switch x := v.(type) {
	case string:
		for _, m := range targetRef.FindAllStringSubmatch(x, -1) {
			out = append(out, m[1])
		}
	case []any:
		for _, e := range x {
			out = append(out, targetRefs(e)...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			out = append(out, targetRefs(x[k])...)
		}
	}
	return out
}

// policies refuses a flow whose decisions the people there are can never make.
func (c *checking) policies(d *defined) error {
	people, err := c.peopleOf(d.name)
	if err != nil {
		return err
	}
	f := d.flow
	for i, st := range f.Stages {
		short := operation.CheckPolicy(st.Approval, people)
		written := len(st.Drafts) > 0 || f.OnMissingData == definition.MissingDraft
		if short == nil && written {
			short = operation.CheckDraftedPolicy(st.Approval, people)
		}
		if short != nil {
			beside := ""
			if st.Approval.SeparateAuthor && written {
				beside = " besides the author"
			}
			c.short(d, fmt.Sprintf("stages[%d].approval", i), "the approval of stage "+st.Key, beside, short)
		}
	}
	if short := operation.CheckReexecutionPolicy(f.Reexecution.Approvers, f.Reexecution.Required, f.Reviewer, people); short != nil {
		beside := ""
		if short.Selector == f.Reexecution.Approvers {
			beside = " besides the reviewer"
		}
		c.short(d, "reexecution", "settling and re-executing", beside, short)
	}
	return nil
}

// short names a shortage: who is needed, how many there are.
func (c *checking) short(d *defined, field, what, beside string, s *operation.Shortage) {
	who := "role " + string(s.Selector.Role)
	if s.Selector.User != "" {
		who += " named " + s.Selector.User
	}
	if s.Group != "" {
		what += ", group " + s.Group + ","
		beside += ", each counted in one group alone"
	}
	people, verb := "people", "there are"
	if s.Need == 1 {
		people = "person"
	}
	if s.Have == 1 {
		verb = "there is"
	}
	c.problem(d, field, "%s needs %d active %s with %s for this flow%s; %s %d. Add people or roles first: holdpoint user add", what, s.Need, people, who, beside, verb, s.Have)
}
