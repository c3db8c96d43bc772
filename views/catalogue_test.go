package views

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ/parser/v2"
	"github.com/a-h/templ/parser/v2/visitor"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/views/text"
)

// families lists the keys that are put together from a prefix and a word of the
// model: each word must have its sentence.
func families() map[string][]string {
	f := map[string][]string{
		"outcome.":            {operation.OutcomeUnknown.String(), operation.OutcomeNotStarted.String(), operation.OutcomeConfirmed.String()},
		"proof.":              proofWords,
		"delivery.why.":       DeliveryReasons,
		"sources.kind.":       {definition.KindShopifyFlow, definition.KindShopifyWebhook, definition.KindCloudEvents, definition.KindJSON, definition.KindStarter},
		"sources.scheme.":     {definition.SchemeHMAC, definition.SchemeStandardWebhooks, definition.SchemeStripe, definition.SchemeHubSpot, definition.SchemeToken},
		"sources.answer.":     {"200", "202"},
		"starting.state.":     {"waiting", "going", "done", "dropped"},
		"starting.separator.": {"comma", "semicolon", "tab", "line"},
		"starting.why.":       {"inputs", "cells", "key", "twice", "known", "not_entitled", "not_possible"},
		"sources.clock.":      {"same", "behind", "ahead"},
		"suppression.reason.": names(operation.SuppressionReasons),
		"suppression.scope.":  names(operation.SuppressionScopes),
		"suppression.source.": {"person", "import", "callback", "api"},
		"sources.clock_last.": {"same", "behind", "ahead"},
		"starting.result.":    {"started", "known", "conflict", "held", "refused"},
		"starting.count.":     {"started", "known", "conflict", "held", "refused"},
		"starting.table.":     {"empty", "large", "rows", "columns", "text", "nul", "quotes", "cell"},
		"action.":             slices.Concat(names(operation.Events), historyWords, personWords, pageWords, acceptanceWords, retentionWords, incidentWords, []string{"start_table", "stop", "advance", "satisfied", "release"}),
		"invalid.":            invalidCodes,
		"detail.":             historyDetails,
		"refusal.":            names(operation.Codes),
		"state.":              append(names(operation.States), string(StateOpen), string(StateClosed)),
		"state.says.":         names(operation.States),
		"role.":               names(operation.Roles),
		"delivery.result.":    names(DeliveryResults),
		"checklist.":          names(operation.Checklist),
		"check.":              {"yes", "no"},
		"probe.":              names([]operation.ProbeResult{operation.ProbeHeld, operation.ProbeBroken, operation.ProbeUnclear}),
		"probe.shows.":        names([]operation.ProbeResult{operation.ProbeHeld, operation.ProbeBroken, operation.ProbeUnclear}),
		"probe.step.":         {"first", "again", "other", "together", "lookup"},
		"probe.after.":        {"repeated", "looked_up", "person"},
		"flow.on_missing.":    {"draft", "refuse"},
		"language.":           text.Languages,
		"theme.":              {"auto", "light", "dark"},
		"confirmed_by.":       names([]ConfirmedBy{ByDestination, ByPerson}),
		"duplicate.":          names([]Duplicate{DuplicateSuspected, DuplicateConfirmed}),
		"op.original.":        {"open", "done"},
		"op.before.":          {"open", "done"},
		"op.since.":           {"open", "done"},
		"delivery.":           names([]DeliveryState{DeliveryAccepted, DeliveryDelivered, DeliveryBounced, DeliveryDropped, DeliveryComplained}),
		"paused.":             names([]PauseScope{PauseAll, PauseOperation, PauseFlow, PauseDestination}),
		"attempt.kind.":       names([]operation.AttemptKind{operation.AttemptRetry, operation.AttemptProtected, operation.AttemptReexecution}),
		"attempt.settled.":    names([]SettledBy{SettledEffect, SettledNoEffect}),
		"evidence.kind.":      names([]EvidenceKind{EvidenceResponse, EvidenceLookup, EvidenceCallback, EvidenceStatement, EvidenceLate}),
		"lookup.":             names([]operation.LookupResult{operation.LookupOne, operation.LookupNone, operation.LookupMany, operation.LookupMismatch, operation.LookupUnreachable}),
		"decision.given.":     names([]operation.Decision{operation.Approve, operation.RequestChanges, operation.Reject, operation.Withdraw}),
		"version.decision.":   names([]operation.Decision{operation.Approve, operation.RequestChanges, operation.Reject, operation.Withdraw}),
		"edit.title.":         names([]EditMode{EditVersion, EditReplacement}),
		"edit.do.":            names([]EditMode{EditVersion, EditReplacement}),
		"approved.view.":      names([]VersionViewKind{ViewContent, ViewChanges}),
		"destination.kind.":   names([]operation.RequestKind{operation.RequestHTTP, operation.RequestSMTP}),
		"run.mark.":           names([]StageMark{MarkKept, MarkNext, MarkBlocked, MarkLater}),
		"next.": names([]operation.DecisionKind{operation.DecideComplete, operation.DecideApprove, operation.DecideStage, operation.DecideOriginal, operation.DecideTake,
			operation.DecideResume, operation.DecideFinish, operation.DecideTry, operation.DecideCheck, operation.DecideReconcile,
			operation.DecideReexecution, operation.DecideRemedy}),
		"people.state.":           names(AccountStates),
		"token.state.":            names(TokenStates),
		"token.life.":             TokenLives,
		"scope.":                  scopeWords,
		"scope.hint.":             scopeWords,
		"role.hint.":              names(operation.Roles),
		"signin.by.":              SignInWays,
		"signin.failed.":          SignInWays,
		"provider.":               reasonsOf(providerReasons),
		"incidents.state.":        names(operation.IncidentStates),
		"incidents.class.":        names(operation.CauseClasses),
		"incidents.count.effect.": names(operation.Effects),
		"incidents.count.":        {"operations", "duplicate_suspected", "duplicate_confirmed"},
		"incidents.time.":         {"first", "last", "detected", "settled"},
		"tasks.state.":            names(operation.TaskStates),
		"tasks.origin.":           names(operation.TaskOrigins),
		"tasks.word.":             names([]operation.TaskState{operation.TaskDone, operation.TaskDropped}),
		"notice.task.":            {"new", "remind", "overdue", "escalated"},
		"notice.task_says.":       {"new", "remind", "overdue", "escalated"},
		"sheet.missing.":          {"draft", "refuse"},
		"sheet.satisfied.":        {"confirmed", "accepted", "delivered", "every_item_confirmed", "every_item_closed"},
		"newbatch.":               {"problems_title", "left_out_title"},
		"newbatch.state.":         {"waiting", "made", "gone"},
		"newbatch.diff.":          {"added", "dropped", "changed"},
		"newbatch.bad.":           {"rows", "json", "no_list", "missing", "encoding", "deep", "twice", "nul", "entry"},
		"notice.subject.":         names(operation.NoticeKinds),
		"notice.says.":            names(operation.NoticeKinds),
		"notifications.kind.":     names(operation.NoticeKinds),
		"notifications.hint.":     names(operation.NoticeKinds),
		"notifications.mode.":     names(noticeModes),
		"notifications.state.":    names(noticeStates),
		"notifications.channel.":  noticeChannels,
		"same.fault.":             names(SameFaults),
		"link.warn.":              names(LinkWarnings),
		"interrupt.answer.":       InterruptAnswers,
		"limits.figure.":          names(operation.Figures),
		"limits.result.":          limitResults,
		"limits.span.":            limitSpans,
		"limits.ending.":          breachEndings,
		"limits.side.":            names([]operation.LimitSide{operation.LimitOver, operation.LimitUnder}),
		"reports.kind.":           names(operation.ReportKinds),
		"reports.heading.":        names(operation.ReportKinds),
		"reports.heading_flow.":   names(operation.ReportKinds),
		"reports.section.":        names(operation.ReviewSections),
		"reports.hint.":           names(operation.ReviewSections),
		"reports.line.":           ReportLines,
		"effect.":                 effectWords,
		"flow.type.":              inputTypes,
		"flow.satisfied_by.":      {"confirmed", "accepted", "delivered", "every_item_confirmed", "every_item_closed"},
	}
	f["restore.why."], f["restore.settled."], f["restore.looked."] = RestoreReasons, RestoreSettled, f["lookup."]
	f["acceptance.state."], f["acceptance.says."] = names(AcceptanceStates), names(AcceptanceStates)
	f["acceptance.case."], f["acceptance.expect."] = operation.AcceptanceCases, operation.AcceptanceCases
	f["acceptance.step."], f["acceptance.fault."], f["acceptance.bar."] = AcceptanceSteps, AcceptanceFaults, AcceptanceBars
	f["acceptance.by."], f["acceptance.part."], f["acceptance.sign."] = []string{operation.CountedByLedger, operation.CountedByLookup}, AcceptanceParts, AcceptanceParts
	f["acceptance.attempt."] = names([]operation.AttemptKind{operation.AttemptFirst, operation.AttemptRetry, operation.AttemptProtected, operation.AttemptReexecution})
	f["acceptance.lookup."] = f["lookup."]
	f["do."] = append(f["do."], "acceptance", "open_incident", "sign_incident", "erase", "erase_confirm")
	f["keeping.goes."] = []string{"contents", "attachments", "evidence"}
	f["batch."] = append(f["batch."], "pause_not", "resume_not")
	limitFamilies(f)
	f["figures.says."], f["figures.defines."] = names(operation.Figures), names(operation.Figures)
	f["figures.group."], f["figures.step."] = []string{"coming_in", "going_out", "in_doubt", "people"}, []string{"day", "week", "month"}
	f["figures.list."], f["figures.outcome."] = []string{"events", "deliveries", "attempts", "cases", "approvals", "reexecutions", "operations"}, []string{"not_started", "confirmed", "unknown", "open"}
	f["retention.kind."], f["retention.says."], f["retention.forever."] = RetentionKinds, RetentionKinds, RetentionForever
	nouns := append([]string{"effect"}, effectWords...)
	f["settling.ask."], f["settling.yes."], f["settling.no."] = nouns, nouns, nouns
	f["settling.how.there."], f["settling.how.none."] = names(Hows), names(Hows)
	f["settling.again."] = AgainWhys
	f["attachment.refused."] = FileRefusals
	f["error.cross."], f["error.other."] = []string{"title", "what", "todo"}, []string{"title", "what", "todo"}
	for d, codes := range Presets {
		f["preset."+string(d)+"."] = codes
	}
	runs := names([]operation.RunState{operation.RunOpen, operation.RunBlocked, operation.RunCompleted, operation.RunStopped})
	f["run.state."], f["run.says."] = runs, runs
	groups := names([]InboxGroupKind{GroupOverdue, GroupUnknown, GroupReexecutions, GroupHeld, GroupApprovals, GroupPaused, GroupRemedies, GroupDrafts})
	f["inbox.tally."] = groups
	f["inbox.group."], f["inbox.hint."] = append(groups, string(GroupWaiting)), append(groups, string(GroupWaiting))
	for _, family := range []string{"inbox.tab.", "inbox.title.", "inbox.empty.", "inbox.empty_hint."} {
		f[family] = names(InboxTabs)
	}
	f["inbox.lede."] = names([]InboxTab{TabOthers, TabChanges, TabDone})
	for _, word := range []string{"withdraw", "withdraw_request", "correct", "pause", "resume", "pause_all", "resume_all", "cancel", "remedy", "leave", "release", "discard",
		"disable_user", "enable_user", "reset_password", "sign_out_user", "resend_invitation", "revoke_invitation", "revoke_token",
		"reset_factors", "forget_identity", "link_person", "unlink_person"} {
		f["do."] = append(f["do."], word, word+"_effect")
	}
	f["do."] = append(f["do."], "cancel_confirm", "resume_all_confirm", "approve", "reconcile", "approve_reexecution", "recheck", "edit", "replace",
		"send_again", "grant", "dispute", "evidence", "go_on", "adopt", "decide_held")
	for _, v := range SameVerdicts {
		f["same."] = append(f["same."], string(v), string(v)+"_why")
	}
	for _, code := range plainProofs {
		f["proof."] = append(f["proof."], code+"_plain")
	}
	for _, s := range errorStatuses {
		for _, part := range []string{"title", "what", "todo"} {
			f[(ErrorModel{Status: s}).errorKey()+"."] = append(f[(ErrorModel{Status: s}).errorKey()+"."], part)
		}
	}
	for prefix, list := range caseFamilies() {
		f[prefix] = list
	}
	for prefix, list := range historyFamilies() {
		f[prefix] = list
	}
	causeFamilies(f)
	newsFamilies(f)
	batchFamilies(f)
	return f
}

// reasonsOf gives the sentences of each reason why the provider signed nobody in.
func reasonsOf(list []string) []string {
	var out []string
	for _, why := range list {
		out = append(out, why+".title", why+".what", why+".todo")
	}
	return out
}

func names[T ~string](list []T) []string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}

var (
	literalKey = regexp.MustCompile(`"([a-z_]+(?:\.[a-z0-9_]+)+)"`)
	calledKey  = regexp.MustCompile(`\b(?:[tn]\(ctx,|p\.[TN]\(|Sentence\(|From\(ctx\)\.[TN]\()\s*"([^"]+)"`)
	tomlKey    = regexp.MustCompile(`(?m)^"([^"]+)" = `)
)

// sources gives the templ and Go sources of the whole module, without generated files
// and tests: handlers, jobs and the server frame say sentences too.
func sources(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		source := strings.HasSuffix(name, ".templ") || strings.HasSuffix(name, ".go")
		if !source || strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(name)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCatalogueHasEveryKeyAndNoOther(t *testing.T) {
	used := map[string]bool{}
	for name, src := range sources(t) {
		for _, m := range calledKey.FindAllStringSubmatch(src, -1) {
			if !strings.HasSuffix(m[1], ".") && !text.Has(m[1]) {
				t.Errorf("%s: key %q is in no catalogue", name, m[1])
			}
		}
		for _, m := range literalKey.FindAllStringSubmatch(src, -1) {
			used[m[1]] = true
		}
	}
	for prefix, list := range families() {
		for _, w := range list {
			used[prefix+w] = true
			if !text.Has(prefix + w) {
				t.Errorf("key %q is in no catalogue", prefix+w)
			}
		}
	}
	files, err := filepath.Glob("text/*.en.toml")
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, tomlKey.FindAllStringSubmatch(string(b), -1)...)
	}
	if len(keys) < 500 {
		t.Fatalf("only %d keys found: the pattern no longer fits the file", len(keys))
	}
	for _, m := range keys {
		if k := m[1]; !used[k] && !strings.HasPrefix(k, "field.") {
			t.Errorf("key %q is used nowhere", k)
		}
	}
}

// spoken are the attributes whose constant value people would read.
var spoken = []string{"aria-label", "title", "alt", "placeholder", "label"}

func TestTemplatesHoldNoWords(t *testing.T) {
	letters := regexp.MustCompile(`\pL`)
	seen := 0
	for name, src := range sources(t) {
		if !strings.HasSuffix(name, ".templ") {
			continue
		}
		file, err := parser.ParseString(src)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		v := visitor.New()
		v.Text = func(n *parser.Text) error {
			seen++
			if s := strings.TrimSpace(n.Value); letters.MatchString(s) && !slices.Contains([]string{"Holdpoint", "j", "k", "enter"}, s) {
				t.Errorf("%s: %q does not come from a catalogue", name, s)
			}
			return nil
		}
		v.ConstantAttribute = func(n *parser.ConstantAttribute) error {
			if slices.Contains(spoken, n.Key.String()) && letters.MatchString(n.Value) {
				t.Errorf("%s: %s=%q does not come from a catalogue", name, n.Key.String(), n.Value)
			}
			return nil
		}
		if err := file.Visit(v); err != nil {
			t.Fatal(err)
		}
	}
	if seen < 5 {
		t.Fatalf("only %d text nodes seen: the walk does not reach them", seen)
	}
}

func TestRefusalsSayEverything(t *testing.T) {
	now := time.Date(2026, 4, 16, 7, 42, 0, 0, time.UTC)
	params := []string{"at", "2026-04-16T10:00:00Z", "state", "confirmed", "role", "ops_owner", "stage", "email", "limit", "5",
		"item", "key", "count", "2", "was", "a/test", "is", "b/live", "attempt", "att_1", "who", "usr_1"}
	for _, lang := range text.Languages {
		p := text.New(lang, nil, now)
		for _, code := range operation.Codes {
			for _, r := range []*operation.Refusal{operation.Refuse(code), operation.Refuse(code, params...)} {
				if s := RefusalText(p, r); s == "" || strings.ContainsAny(s, "⟦{") || strings.Contains(s, "2026-04") {
					t.Errorf("%s %s: %q", lang, code, s)
				}
			}
		}
	}
	got := RefusalText(text.New("en", nil, now), operation.Refuse(operation.CodeNotEntitled, "role", "ops_owner"))
	if !strings.Contains(got, "ops owner") {
		t.Errorf("who can is not named: %q", got)
	}
}
