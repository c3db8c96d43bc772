package operation

import (
	"slices"
	"testing"
	"time"
)

var (
	opsOwner = person("usr_r", RoleOpsOwner)
	said     = Statement{Who: opsOwner, Reviewer: Selector{Role: RoleOpsOwner}, Reason: "seen in the log", Evidence: 1}
)

func inState(s State, turn func(*Facts)) Facts {
	f := readyFacts()
	f.State = s
	if turn != nil {
		turn(&f)
	}
	return f
}

func answered(at time.Time, without ...ChecklistItem) []Answer {
	var a []Answer
	for _, i := range Checklist {
		a = append(a, Answer{Item: i, Yes: !slices.Contains(without, i), User: "usr_r", At: at})
	}
	return a
}

func TestMissingAnswers(t *testing.T) {
	if m := MissingAnswers(nil, nil); len(m) != 5 {
		t.Errorf("nothing answered: %v", m)
	}
	if m := MissingAnswers(answered(t0), []ChecklistItem{"crm-filter"}); !slices.Equal(m, []ChecklistItem{"crm-filter"}) {
		t.Errorf("the flow's own item: %v", m)
	}
	later := append(answered(t0), Answer{Item: CheckKey, Yes: false, User: "usr_r", At: t0.Add(1)})
	if m := MissingAnswers(later, nil); !slices.Equal(m, []ChecklistItem{CheckKey}) {
		t.Errorf("the later answer counts: %v", m)
	}
	earlier := append(answered(t0), Answer{Item: CheckKey, Yes: false, User: "usr_r", At: t0.Add(-1)})
	if m := MissingAnswers(earlier, nil); len(m) > 0 {
		t.Errorf("an older answer further back in the list counted: %v", m)
	}
	if m := MissingAnswers([]Answer{{Item: CheckKey, Yes: true, At: t0}}, nil); len(m) != 5 {
		t.Error("an answer of nobody counts")
	}
}

func TestMayConfirmNotDone(t *testing.T) {
	quiet := t0.Add(30*time.Second + 2*time.Minute)
	extra := []ChecklistItem{"crm-filter"}
	rows := []struct {
		name    string
		turn    func(*Facts)
		answers []Answer
		extra   []ChecklistItem
		now     time.Time
		code    Code
	}{
		{"answered after everything settled", nil, answered(quiet), nil, quiet, CodeOK},
		{"out of unknown", func(f *Facts) { f.State = Unknown }, answered(quiet), nil, quiet, CodeOK},
		{"a moment too early", nil, answered(quiet.Add(-1)), nil, quiet.Add(-1), CodeSettling},
		{"searched before the request could have taken effect", nil, answered(quiet.Add(-1)), nil, quiet, CodeChecklist},
		{"only the search repeated", nil, append(answered(t0.Add(1)), Answer{Item: CheckDestination, Yes: true, User: "usr_r", At: quiet}), nil, quiet, CodeOK},
		{"answered before the request", nil, append(answered(t0), Answer{Item: CheckDestination, Yes: true, User: "usr_r", At: quiet}), nil, quiet, CodeChecklist},
		{"the flow's own search is a search", nil, append(answered(quiet), Answer{Item: "crm-filter", Yes: true, User: "usr_r", At: t0.Add(1)}), extra, quiet, CodeChecklist},
		{"the flow's own search repeated", nil, append(answered(quiet), Answer{Item: "crm-filter", Yes: true, User: "usr_r", At: quiet}), extra, quiet, CodeOK},
		{"the log shows it", nil, answered(quiet, CheckDestination), nil, quiet, CodeChecklist},
		{"an attempt is open", func(f *Facts) { f.OpenAttempt = "att_2" }, answered(quiet), nil, quiet, CodeAttemptOpen},
		{"a later, settled attempt may still take effect", func(f *Facts) { f.LastSend = quiet }, answered(quiet), nil, quiet, CodeSettling},
		{"answers from before a later attempt", func(f *Facts) { f.LastDispatch = quiet }, answered(quiet), nil, quiet.Add(time.Hour), CodeChecklist},
		{"in draft", func(f *Facts) { f.State = Draft }, answered(quiet), nil, quiet, CodeForbiddenMove},
		{"when confirmed", func(f *Facts) { f.State = Confirmed }, answered(quiet), nil, quiet, CodeForbiddenMove},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			f := unknownFacts()
			f.State = Review
			if r.turn != nil {
				r.turn(&f)
			}
			if got := codeOf(MayConfirmNotDone(f, r.answers, r.extra, r.now)); got != r.code {
				t.Errorf("got %q, want %q", got, r.code)
			}
		})
	}
}

func TestMayEditAgain(t *testing.T) {
	may := []State{Draft, PendingApproval, Waiting, Ready, RetryScheduled, Review}
	for _, s := range States {
		if got := MayEditAgain(inState(s, nil), false); (got == nil) != slices.Contains(may, s) {
			t.Errorf("%s: %v", s, got)
		}
		if MayEditAgain(inState(s, nil), true) == nil {
			t.Errorf("%s: edited though an attempt is not proven", s)
		}
	}
	for name, c := range map[string]struct {
		turn func(*Facts)
		code Code
	}{
		"unsettled":          {func(f *Facts) { f.Unsettled = unknownFacts().Unsettled }, CodeAttemptsUnsettled},
		"stated":             {func(f *Facts) { f.Stated = true }, CodeAttemptsUnsettled},
		"disputed":           {func(f *Facts) { f.Disputed = true }, CodeAttemptsUnsettled},
		"an attempt open":    {func(f *Facts) { f.OpenAttempt = "att_1" }, CodeAttemptOpen},
		"stopped for good":   {func(f *Facts) { f.Stopped = true }, CodeStopped},
		"an item of a batch": {func(f *Facts) { f.Item = true }, CodeItemOfList},
	} {
		if got := codeOf(MayEditAgain(inState(Review, c.turn), false)); got != c.code {
			t.Errorf("%s: got %q, want %q", name, got, c.code)
		}
	}
	draft := inState(Draft, func(f *Facts) { f.Item = true })
	if MayEditAgain(draft, false) != nil || codeOf(MayWriteAnew(draft)) != CodeItemOfList {
		t.Error("a draft of an item can be submitted as it is, and not be written anew")
	}
}

// What a person may do in doubt: state, right, reason, evidence, and what is settled.
func TestRecovery(t *testing.T) {
	now := at1h
	wrong, silent, bare := said, said, said
	wrong.Who = person("usr_x", RoleApprover, RoleAdmin)
	silent.Reason = " \t"
	bare.Evidence = 0
	acts := map[string]struct {
		do       func(f Facts, s Statement) *Refusal
		in       []State
		evidence bool
		reason   bool
		settled  bool // needs every attempt settled
		proven   bool // needs every attempt proven
	}{
		"hold":    {func(f Facts, s Statement) *Refusal { return MayHold(f.State, s, now.Add(1), now) }, []State{Review}, false, true, false, false},
		"dispute": {func(f Facts, s Statement) *Refusal { return MayDispute(f.State, s) }, []State{Confirmed, Rejected, Cancelled, NotExecuted}, true, true, false, false},
		"done": {func(f Facts, s Statement) *Refusal { return MayConfirmDone(f.State, s, "ref", false) },
			[]State{Unknown, Review, ReexecutionRequested}, true, false, false, false},
		"grant":   {func(f Facts, s Statement) *Refusal { return MayGrantAttempts(f, s, 1) }, []State{Review}, false, true, true, true},
		"close":   {MayCloseNotExecuted, []State{Review}, false, true, true, false},
		"request": {MayRequestReexecution, []State{Review}, false, true, true, false},
	}
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			for _, s := range States {
				if got := a.do(inState(s, nil), said); (got == nil) != slices.Contains(a.in, s) {
					t.Errorf("%s: %v", s, got)
				}
			}
			s := a.in[0]
			check := func(what string, got *Refusal, refuse bool, code Code) {
				t.Helper()
				if want := map[bool]Code{true: code, false: CodeOK}[refuse]; codeOf(got) != want {
					t.Errorf("%s: got %v, want %q", what, got, want)
				}
			}
			check("wrong person", a.do(inState(s, nil), wrong), true, CodeNotEntitled)
			check("no reason", a.do(inState(s, nil), silent), a.reason, CodeReasonMissing)
			check("no evidence", a.do(inState(s, nil), bare), a.evidence, CodeEvidenceMissing)
			check("unsettled", a.do(inState(s, func(f *Facts) { f.Unsettled = unknownFacts().Unsettled }), said), a.settled, CodeAttemptsUnsettled)
			check("disputed", a.do(inState(s, func(f *Facts) { f.Disputed = true }), said), a.settled, CodeAttemptsUnsettled)
			check("open attempt", a.do(inState(s, func(f *Facts) { f.OpenAttempt = "att_1" }), said), a.settled, CodeAttemptOpen)
			check("stated", a.do(inState(s, func(f *Facts) { f.Stated = true }), said), a.proven, CodeAttemptsUnsettled)
			check("stopped", a.do(inState(s, func(f *Facts) { f.Stopped = true }), said), a.proven || name == "request", CodeStopped)
		})
	}
	for until, code := range map[time.Time]Code{now: CodeDateMissing, {}: CodeDateMissing, now.Add(1): CodeOK} {
		if got := codeOf(MayHold(Review, said, until, now)); got != code {
			t.Errorf("hold until %v: got %q", until, got)
		}
	}
	if got := codeOf(MayConfirmDone(Review, said, "  ", false)); got != CodeReferenceMissing {
		t.Errorf("no reference: %q", got)
	}
	if got := codeOf(MayConfirmDone(Review, said, "ref", true)); got != CodeReferenceTaken {
		t.Errorf("another operation's reference: %q", got)
	}
	if got := codeOf(MayGrantAttempts(inState(Review, nil), said, 0)); got != CodeAttemptLimit {
		t.Errorf("no attempt granted: %q", got)
	}
}

func TestMayReconcile(t *testing.T) {
	for _, s := range States {
		if got := MayReconcile(s, Selector{Role: RoleOpsOwner}, opsOwner); (got == nil) != (s == Review || s == Unknown) {
			t.Errorf("%s: %v", s, got)
		}
	}
	for _, s := range States {
		if got := MayStateEffect(s, Selector{Role: RoleOpsOwner}, opsOwner); (got == nil) == s.Closed() {
			t.Errorf("an effect of %s: %v", s, got)
		}
	}
	for _, may := range []func(State, Selector, Person) *Refusal{MayReconcile, MayStateEffect} {
		if got := codeOf(may(Review, Selector{Role: RoleOpsOwner}, person("usr_x", RoleApprover))); got != CodeNotEntitled {
			t.Errorf("got %q", got)
		}
	}
}

// FC-29: a key is kept while it protects; it goes up only when it expired or holds a
// stored error.
func TestFieldCase29_KeyOfAReexecution(t *testing.T) {
	p := Protection{Key: true, Proven: true, Retention: 24 * time.Hour, Margin: time.Hour}
	rows := []struct {
		name    string
		current int
		p       Protection
		first   time.Time
		stored  bool
		now     time.Time
		want    int
	}{
		{"never sent", 1, p, time.Time{}, true, at1h, 1},
		{"still protected", 1, p, t0, false, at1h, 1},
		{"at the margin", 1, p, t0, false, t0.Add(23 * time.Hour), 2},
		{"long ago", 3, p, t0, false, t0.Add(48 * time.Hour), 4},
		{"holds a stored error", 1, p, t0, true, at1h, 2},
		{"retention not published", 1, Protection{Key: true, Proven: true}, t0, false, at1h, 2},
		{"never probed", 1, Protection{Key: true, Retention: time.Hour}, t0, false, t0, 2},
		{"generation not set counts as the first", 0, p, t0, true, at1h, 2},
	}
	for _, r := range rows {
		got := NextGeneration(r.current, r.p, r.first, r.stored, r.now)
		if got != r.want {
			t.Errorf("%s: %d, want %d", r.name, got, r.want)
		}
		if same := DestinationKey("op_1", got) == DestinationKey("op_1", r.current); same != (got == max(r.current, 1) || got == r.current) {
			t.Errorf("%s: generation %d after %d, and the key is the same: %v", r.name, got, r.current, same)
		}
	}
}

func TestMayReplace(t *testing.T) {
	for _, s := range States {
		_, r := MayReplace(Original{State: s})
		if (r == nil) != s.WithoutEffect() {
			t.Errorf("%s: %v", s, r)
		}
		second, r := MayReplace(Original{State: s, Deliberate: true})
		if (r == nil) != s.Closed() || (s == Confirmed && !second) {
			t.Errorf("%s, deliberately: second person %v, %v", s, second, r)
		}
	}
	if second, _ := MayReplace(Original{State: NotExecuted, DispatchedEver: true}); !second {
		t.Error("the original was dispatched, and one person is enough")
	}
	if second, _ := MayReplace(Original{State: Rejected}); second {
		t.Error("nothing was ever sent, and a second person is asked")
	}
	if _, r := MayReplace(Original{State: Rejected, OpenReplacement: true}); codeOf(r) != CodeOriginalOpen {
		t.Errorf("two replacements at once: %v", r)
	}
	if _, r := MayReplace(Original{State: NotExecuted, EffectAfter: true}); codeOf(r) != CodeReplacementConfirmed {
		t.Errorf("what replaced it has the effect: %v", r)
	}
	if _, r := MayReplace(Original{State: Rejected, EffectBefore: true}); codeOf(r) != CodeOriginalConfirmed {
		t.Errorf("what it replaced has the effect: %v", r)
	}
	if second, r := MayReplace(Original{State: NotExecuted, EffectAfter: true, Deliberate: true}); r != nil || !second {
		t.Errorf("what replaced it has the effect, deliberately: second person %v, %v", second, r)
	}
}

func TestAdoption(t *testing.T) {
	a := Adoption{Who: opsOwner, Reason: "the job died", Destination: "crm", Action: "create_task", System: "n8n", ItsID: "exec-7", StoppedAt: t0}
	if r := MayAdopt(a, at1h); r != nil {
		t.Fatalf("refused: %v", r)
	}
	for name, c := range map[string]struct {
		turn func(*Adoption)
		code Code
	}{
		"wrong person":   {func(a *Adoption) { a.Who = person("usr_x", RoleApprover) }, CodeNotEntitled},
		"no reason":      {func(a *Adoption) { a.Reason = "" }, CodeReasonMissing},
		"no destination": {func(a *Adoption) { a.Destination = "" }, CodeContentMissing},
		"no action":      {func(a *Adoption) { a.Action = " " }, CodeContentMissing},
		"no system":      {func(a *Adoption) { a.System = "" }, CodeContentMissing},
		"no id":          {func(a *Adoption) { a.ItsID = "" }, CodeContentMissing},
		"in the future":  {func(a *Adoption) { a.StoppedAt = at1h.Add(1) }, CodeDateMissing},
	} {
		b := a
		c.turn(&b)
		if got := codeOf(MayAdopt(b, at1h)); got != c.code {
			t.Errorf("%s: got %q, want %q", name, got, c.code)
		}
	}
	again := a
	again.Reason, again.ItsID = "entered twice", " exec-7 "
	if AdoptedIntent(a) != AdoptedIntent(again) {
		t.Error("the same stopped job entered twice is two operations")
	}
	other := a
	other.System = "n8n-2"
	if AdoptedIntent(a) == AdoptedIntent(other) {
		t.Error("jobs of two systems are one operation")
	}
	f := Adopted(readyFacts())
	if f.State != Review || MayEditAgain(f, false) == nil || MayCloseNotExecuted(f, said) == nil || MayRequestReexecution(f, said) == nil {
		t.Error("an adopted operation moves on before a person has settled it")
	}
}
