package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// demo gives one of the demonstration's files, changed.
func demo(t *testing.T, name string, replace ...string) store.File {
	t.Helper()
	files, err := storetest.DemoFiles()
	ok(t, err)
	for _, f := range files {
		if f.Name != name {
			continue
		}
		for i := 0; i < len(replace); i += 2 {
			if !strings.Contains(string(f.Source), replace[i]) {
				t.Fatalf("%s does not hold %q", name, replace[i])
			}
			f.Source = []byte(strings.ReplaceAll(string(f.Source), replace[i], replace[i+1]))
		}
		return f
	}
	t.Fatalf("there is no %s", name)
	return store.File{}
}

// problems fails unless err lists a problem of this field that holds these words.
func problems(t *testing.T, err error, field string, words ...string) {
	t.Helper()
	var ps definition.Problems
	if !errors.As(err, &ps) {
		t.Errorf("err = %v, want problems", err)
		return
	}
	for _, p := range ps {
		if strings.HasPrefix(p.Field, field) && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(p.Text, w) }) {
			if p.File == "" {
				t.Errorf("problem without a file: %v", p)
			}
			return
		}
	}
	t.Errorf("problems:\n%v\nwant one at %s with %q", err, field, words)
}

func TestApply(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin := f.Store, t.Context(), f.As("admin")

	t.Run("TheSameBytesAgainChangeNothing", func(t *testing.T) {
		before, err := s.FindInstallation(ctx)
		ok(t, err)
		files, err := storetest.DemoFiles()
		ok(t, err)
		done, err := s.Apply(ctx, admin, files)
		ok(t, err)
		if len(done) != len(files) {
			t.Errorf("%d of %d files", len(done), len(files))
		}
		for _, d := range done {
			if !d.Unchanged || d.Version != 1 {
				t.Errorf("%+v", d)
			}
		}
		if after, err := s.FindInstallation(ctx); err != nil || after.Epoch != before.Epoch {
			t.Errorf("epoch %d became %d, %v", before.Epoch, after.Epoch, err)
		}
	})
	t.Run("RunningWorkKeepsItsVersion", func(t *testing.T) {
		old := f.Receive(t, storetest.CouponEvent())[0]
		done, err := s.Apply(ctx, admin, []store.File{demo(t, "newsletter-coupon.yaml", "due: 24h", "due: 12h")})
		ok(t, err)
		if done[0].Version != 2 || done[0].Unchanged || done[0].Kind != store.KindFlow {
			t.Errorf("%+v", done[0])
		}
		fresh := f.Receive(t, storetest.CouponEvent())[0]
		for id, want := range map[operation.ID]int{old: 1, fresh: 2} {
			if f.Count(t, "operations WHERE id = $1 AND flow_version = $2", string(id), want) != 1 {
				t.Errorf("%s does not follow version %d", id, want)
			}
		}
		item, err := s.FindFlow(ctx, "newsletter-coupon")
		ok(t, err)
		if item.Version != 2 || item.AppliedBy != string(f.Users["admin"]) || item.Counts.Open() != 2 || item.Counts[operation.PendingApproval] != 2 {
			t.Errorf("%+v", item.Current)
		}
		list, err := s.ListFlowVersions(ctx, "newsletter-coupon")
		ok(t, err)
		if len(list) != 2 || list[0].Version != 2 {
			t.Errorf("%d versions", len(list))
		}
		whole(t, s, operation.SubjectFlow, "newsletter-coupon")
	})
	t.Run("OnlyAdminsMay", func(t *testing.T) {
		for _, short := range []string{"ops", "lead", "author", "auditor"} {
			_, err := s.Apply(ctx, f.As(short), []store.File{demo(t, "plain.yaml", "plain-demo", "other")})
			refused(t, err, operation.CodeNotEntitled)
		}
	})
	t.Run("AllOrNothing", func(t *testing.T) {
		_, err := s.Apply(ctx, admin, []store.File{demo(t, "plain.yaml", "timeout: 5s", "timeout: 6s"),
			demo(t, "plain-note.yaml", "destination: plain", "destination: nowhere")})
		problems(t, err, "stages[0].destination", `"nowhere"`)
		item, err := s.FindDestination(ctx, "plain")
		ok(t, err)
		if item.Version != 1 {
			t.Error("the good file of a bad call was applied")
		}
	})
	t.Run("NamesWhatIsNotThere", func(t *testing.T) {
		for _, c := range []struct {
			file  store.File
			field string
			words []string
		}{
			{demo(t, "plain-note.yaml", "action: create_thing", "action: create_nothing"), "stages[0].action", []string{"plain", "create_nothing"}},
			{demo(t, "plain-note.yaml", "source: api", "source: elsewhere"), "trigger.source", []string{"elsewhere"}},
			{demo(t, "plain-note.yaml", "topic: ${inputs.topic}", `topic: "see {target_ref(letter)}"`), "stages[0].content", []string{"target_ref(letter)", "no earlier stage"}},
			{demo(t, "campaign-follow-up.yaml", `${"Call " + inputs.customer_ref + " about " + inputs.campaign}`, `"{target_ref(email)}"`), "stages[0].content", []string{"target_ref(email)"}},
			{demo(t, "plain-note.yaml", "flow: plain-note", "flow: plain-note\nflows: 2"), "", nil},
			{store.File{Name: "x.yaml", Source: []byte("something: else\n")}, "", []string{"flow:, destination: or source:"}},
		} {
			_, err := s.Apply(ctx, admin, []store.File{c.file})
			problems(t, err, c.field, c.words...)
		}
		_, err := s.Apply(ctx, admin, []store.File{demo(t, "plain-note.yaml"), {Name: "copy.yaml", Source: demo(t, "plain-note.yaml").Source}})
		problems(t, err, "flow", "also defined in plain-note.yaml")
	})
	t.Run("AnEarlierStageMayBeNamed", func(t *testing.T) {
		_, err := s.Apply(ctx, admin, []store.File{demo(t, "campaign-follow-up.yaml", "to: ${inputs.email}\n", "to: ${inputs.email}\n      html: \"Task {target_ref(crm-task)}\"\n")})
		ok(t, err)
	})
	t.Run("ADestinationKeepsTheActionsThatFlowsUse", func(t *testing.T) {
		_, err := s.Apply(ctx, admin, []store.File{demo(t, "plain.yaml", "create_thing:", "create_item:")})
		problems(t, err, "stages[0].action", "create_thing")
	})
	t.Run("ARequestMayNameAnEarlierStageOnly", func(t *testing.T) {
		_, err := s.Apply(ctx, admin, []store.File{demo(t, "plain.yaml", "path: /things", "path: /things/{target_ref(order)}")})
		problems(t, err, "stages[0].action", "create_thing", "{target_ref(order)}", `"order"`)
	})
	t.Run("ASourceGetsVersionsToo", func(t *testing.T) {
		done, err := s.Apply(ctx, command, []store.File{demo(t, "shopify.yaml", "silence: 2d", "silence: 3d")})
		ok(t, err)
		if done[0].Version != 2 || done[0].Kind != store.KindSource {
			t.Errorf("%+v", done[0])
		}
		items, err := s.ListSourceItems(ctx)
		ok(t, err)
		i := slices.IndexFunc(items, func(x store.SourceItem) bool { return x.Name == "shopify" })
		if i < 0 || items[i].Version != 2 || items[i].Source.Silence.Hours() != 72 || items[i].AppliedBy != "system" {
			t.Errorf("sources: %+v", items)
		}
		whole(t, s, operation.SubjectSystem, "installation")
	})
}

func TestApplyNamesTheShortage(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin := f.Store, t.Context(), f.As("admin")
	apply := func(replace ...string) error {
		_, err := s.Apply(ctx, admin, []store.File{demo(t, "plain-note.yaml", replace...)})
		return err
	}
	// two approvers are there; three are asked for
	problems(t, apply("required: 1, separate_author", "required: 3, separate_author"), "stages[0].approval", "needs 3", "role approver", "there are 2")
	// a named person who is not there
	problems(t, apply("approvers: {role: approver}", "approvers: {role: approver, user: nobody@example.test}"), "stages[0].approval", "nobody@example.test", "there are 0")

	// the reviewer settles and needs somebody else to re-execute
	ok(t, s.DisableUser(ctx, admin, f.Users["ops2"], ""))
	problems(t, apply("due: 4h", "due: 5h"), "reexecution", "needs 1", "role ops_owner", "besides the reviewer", "there are 0")
	ok(t, s.DisableUser(ctx, admin, f.Users["ops"], ""))
	problems(t, apply("due: 4h", "due: 5h"), "reexecution", "needs 1", "there are 0")
	ok(t, s.EnableUser(ctx, admin, f.Users["ops"], ""))
	ok(t, s.EnableUser(ctx, admin, f.Users["ops2"], ""))

	// the only author is one of the only two approvers of whom two are asked for
	for _, short := range []string{"author", "author2"} {
		ok(t, s.DisableUser(ctx, admin, f.Users[short], ""))
	}
	ok(t, s.GrantRole(ctx, admin, f.Users["lead"], store.RoleGrant{Role: operation.RoleAuthor}, ""))
	problems(t, apply("required: 1, separate_author", "required: 2, separate_author"), "stages[0].approval", "needs 2", "besides the author", "there is 1")
	// a role for this flow alone counts for it
	ok(t, s.GrantRole(ctx, admin, f.Users["second"], store.RoleGrant{Role: operation.RoleAuthor, Flow: "campaign-follow-up"}, ""))
	problems(t, apply("required: 1, separate_author", "required: 2, separate_author"), "stages[0].approval", "besides the author")
	ok(t, s.GrantRole(ctx, admin, f.Users["auditor"], store.RoleGrant{Role: operation.RoleApprover, Flow: "plain-note"}, ""))
	ok(t, apply("required: 1, separate_author", "required: 2, separate_author"))
}
