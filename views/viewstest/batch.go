package viewstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

const batchID operation.BatchID = "bat_01jrw3v9m8f6xt2c7k4q0hz5da"

const batchURL = "/batches/" + string(batchID)

// letterText is shared text with places that are filled for each item.
const letterText = "Hello {{name}},\n\nthe first flush of our Darjeeling has come in. As one of our customers in {{city}} you can order it two days before everybody else.\n\nThe offer ends on Sunday, 26 April.\n\nYour Aldermoor Tea team"

// campaign is a batch of ten thousand mails that waits for approval.
func campaign() views.BatchModel {
	h := views.BatchHead{ID: batchID, URL: batchURL, Title: "First flush: two days before everybody else", Flow: views.Link{Label: "Spring campaign", URL: "/flows/spring-campaign"}, FlowVersion: 3,
		Run: views.Link{Label: "spring-2026", URL: "/runs/run_1"}, Stage: "Campaign mail", BatchStanding: views.BatchStanding{State: operation.BatchPendingApproval}, Revision: 9, Number: 2, Given: 1, Required: 2, Mails: true,
		Next: operation.DecideApprove, Responsible: views.RoleWho(operation.RoleApprover, true), Due: in(78 * time.Minute), Destination: views.Link{Label: "Postrider Mail", URL: "/destinations/mail"}, Environment: "live", CreatedAt: ago(17 * time.Hour)}
	m := views.BatchModel{Frame: frame(views.SectionOperations, batchURL), Head: h, Approved: campaignVersion(),
		Counts:  views.BatchCounts{Total: 10_000, Duplicates: 3, Suppressed: 12, ToCome: 9985, ItemsURL: batchURL + "/items"},
		Panel:   views.BatchPanel{Yours: true, Decide: batchDecide(), Revise: &views.LinkAction{URL: batchURL + "/revise"}, Cancel: &views.LinkAction{URL: batchURL + "/cancel"}},
		History: history(operation.Draft, operation.PendingApproval)}
	m.Stages = []views.StageLink{{Number: 1, Title: "Campaign mail", State: operation.PendingApproval, Current: true}, {Number: 2, Title: "CRM note", State: operation.Waiting}}
	m.Approved.Required = 2
	m.Approved.Signatures = []views.Signature{{Given: true, Who: support, At: ago(47 * time.Minute), Decision: operation.Approve, Comment: "List and offer checked."},
		{Who: views.RoleWho(operation.RoleApprover, true), Since: ago(61 * time.Minute)}}
	return m
}

func batchDecide() *views.DecideForm {
	return &views.DecideForm{Form: form(batchURL + "/decide"), Number: 2, Given: 1, Required: 2, Destination: "Postrider Mail", Presets: presets(""), Apart: []views.Who{editor},
		Batch: &views.BatchAsk{Phase: operation.PhaseFirst, Items: 9985, LeftOut: 15, Mails: true}}
}

func itemLine(n int, key string) views.BatchItemLine {
	return views.BatchItemLine{Position: n, Key: key, Recipient: key, Title: "First flush: two days before everybody else", URL: fmt.Sprint(batchURL, "/items/", n)}
}

func campaignVersion() views.BatchApproved {
	long, poor := itemLine(7411, "konstancja.brzeczyszczykiewicz@buyer.example"), itemLine(88, "bo@buyer.example")
	long.Size, poor.Size = 612, 371
	twice, stopped := itemLine(4102, "recipient-512@buyer.example"), itemLine(6001, "recipient-88@buyer.example")
	twice.Excluded, stopped.Excluded = operation.ExcludedDuplicate, operation.ExcludedSuppressed
	changed, added := itemLine(12, "recipient-12@buyer.example"), itemLine(9998, "recipient-9998@buyer.example")
	changed.Change, added.Change = "changed", "added"
	return views.BatchApproved{Number: 2, Hash: hashTwo, Author: editor, At: ago(61 * time.Minute), ListName: "spring-2026.csv", ListHash: hashOne, ItemsURL: batchURL + "/items",
		Same: []views.BatchPlace{{Name: "from", Value: "Aldermoor Tea <service@aldermoor.example>"}, {Name: "subject", Value: "First flush: two days before everybody else"}, {Name: "text", Value: letterText, Filled: true}},
		Varies: []views.BatchPlace{{Name: "to", Distinct: 1000, AtLeast: true, Shortest: 16, Longest: 44, Examples: []string{"bo@buyer.example", "recipient-12@buyer.example", "konstancja.brzeczyszczykiewicz@buyer.example"}},
			{Name: "name", Distinct: 1000, AtLeast: true, Shortest: 2, Longest: 31, Examples: []string{"Bo", "山田 花子", "Konstancja Brzęczyszczykiewicz"}}, {Name: "city", Distinct: 214, Empty: 7, Shortest: 2, Longest: 22, Examples: []string{"Kraków", "大阪", "Aldermoor"}},
			{Name: "voucher", Distinct: 1000, AtLeast: true, Shortest: 9, Longest: 9, Examples: []string{"FF-4K2-9Q", "FF-7TA-1C", "FF-0XW-3M"}}},
		LeftOut: []views.BatchItemLine{twice, stopped}, Longest: &long, Emptiest: &poor,
		Diff: &views.BatchDiff{From: 1, Added: 12, Dropped: 3, Changed: 5, Same: 9965, ItemsURL: batchURL + "/items", Lines: []views.BatchItemLine{changed, added},
			Shared: []views.FieldChange{{Label: "text", Parts: views.Diff("The offer ends on Friday, 24 April.", "The offer ends on Sunday, 26 April.")}}},
		Samples: campaignSamples(),
		Versions: []views.VersionLine{{Number: 2, Author: editor, At: ago(61 * time.Minute), Note: "Twelve late sign-ups, the offer ends on Sunday.", Current: true},
			{Number: 1, URL: "?version=1", Author: editor, At: ago(16 * time.Hour), Decisions: []views.Signature{{Given: true, Who: lead, At: ago(15 * time.Hour), Decision: operation.RequestChanges, Preset: "wording", Comment: "Give them the weekend."}}}}}
}

func campaignSamples() views.BatchSamples {
	s := views.BatchSamples{Kind: views.SamplesRandom, Seed: "4be1-90c7", Again: "?samples=random&seed=2#samples"}
	for _, k := range views.BatchSampleKinds {
		s.Links = append(s.Links, views.BatchSampleLink{Kind: k, URL: "?samples=" + string(k) + "#samples", Current: k == s.Kind})
	}
	for i, name := range []string{"Hanako Yamada", "Bo", "Konstancja Brzęczyszczykiewicz"} {
		body := strings.NewReplacer("{{name}}", name, "{{city}}", "Kraków").Replace(letterText)
		key := fmt.Sprint("recipient-", 17+i*2310, "@buyer.example")
		s.Rows = append(s.Rows, views.BatchSample{BatchItemLine: itemLine(17+i*2310, key), Content: views.ContentView{Mail: &views.MailView{From: "Aldermoor Tea <service@aldermoor.example>", To: []string{key},
			Subject: "First flush: two days before everybody else", Text: body}}})
	}
	return s
}

// underWay is the campaign while it is sent; states are its operations.
func underWay(state operation.BatchState, ops map[operation.State]int) views.BatchModel {
	m := campaign()
	m.Head.State, m.Head.Next, m.Head.Responsible, m.Head.Due, m.Head.Given = state, operation.DecideFinish, views.SystemWho(), in(24*time.Minute), 2
	m.Approved.Signatures[1] = views.Signature{Given: true, Who: views.PersonWho("Anna Wolska", true), At: ago(12 * time.Minute), Decision: operation.Approve, Preset: "checked"}
	sum := 0
	for _, n := range ops {
		sum += n
	}
	m.Counts.Ops, m.Counts.ToCome = ops, 9985-sum
	m.Sent = &views.BatchSent{Closed: m.Counts.Closed(), Of: 9985, PerMinute: 412, Ends: in(14 * time.Minute), Started: ago(11 * time.Minute), Window: views.BatchWindow{Last: 200, Errors: 3, Unknown: 1, ErrorLimit: 1000, UnknownLimit: 500, BounceLimit: 500}}
	m.Found = views.BatchFound{Unknown: ops[operation.Unknown], Review: ops[operation.Review], ExportURL: batchURL + "/items.csv", ItemsURL: batchURL + "/items", OperationsURL: batchURL + "/items?state=operation", AcceptedOnly: true}
	if m.Found.Unknown+m.Found.Review > 0 {
		settle, look := form(batchURL+"/settle"), form(batchURL+"/lookup")
		m.Found.Settle, m.Found.Lookup = &settle, &look
	}
	m.Panel = views.BatchPanel{Pause: &views.LinkAction{URL: batchURL + "/pause"}, Stop: &views.LinkAction{URL: batchURL + "/stop"}}
	m.Stages[0].State = operation.InProgress
	return m
}

func canaryPart(ops map[operation.State]int) *views.BatchCanary {
	c := &views.BatchCanary{N: 50, Counts: views.BatchCounts{Total: 50, Ops: ops}, URL: batchURL + "/items?state=operation"}
	sum := 0
	for _, n := range ops {
		sum += n
	}
	c.Counts.ToCome = 50 - sum
	for i, s := range slices.Sorted(maps.Keys(ops)) {
		r := itemLine(i*7+1, fmt.Sprint("recipient-", i*7+1, "@buyer.example"))
		r.State, r.OpURL = s, "/operations/op_1"
		c.Rows = append(c.Rows, r)
	}
	return c
}

// stoppedHalfway is the campaign after a person stopped it.
func stoppedHalfway() views.BatchModel {
	m := underWay(operation.BatchClosed, map[operation.State]int{operation.Confirmed: 4211, operation.NotExecuted: 2, operation.Cancelled: 31})
	m.Counts.Unsent, m.Counts.ToCome = m.Counts.ToCome, 0
	m.Head.Stop = &views.BatchStop{Who: lead, Why: "The offer was withdrawn.", At: ago(9 * time.Minute), Again: 1}
	closeBatch(&m)
	return m
}

func closeBatch(m *views.BatchModel) {
	m.Head.Next, m.Head.Due, m.Head.ClosedAt, m.Panel = operation.DecideNothing, time.Time{}, ago(2*time.Minute), views.BatchPanel{}
	m.Stages[0].State = operation.Confirmed
}

// batchDraft is a list with rows that block approval.
func batchDraft() views.BatchModel {
	m := campaign()
	m.Head.State, m.Head.Next, m.Head.Responsible, m.Head.Number = operation.BatchDraft, operation.DecideComplete, views.RoleWho(operation.RoleAuthor, true), 1
	a := &m.Approved
	a.Number, a.Hash, a.Diff, a.Missing, a.Signatures, a.Versions = 1, "", nil, []string{"subject"}, nil, a.Versions[1:]
	a.Versions[0].Current, a.ProblemRows = true, 41
	for i, p := range []views.BatchProblem{{Code: "empty", Field: "name"}, {Code: "merge_tag", Field: "text"}, {Code: "content", Field: "to"}, {Code: "unheard_of", Field: "to"}} {
		r := itemLine(19+i*120, fmt.Sprint("recipient-", 19+i*120, "@buyer.example"))
		r.Problems = []views.BatchProblem{p}
		a.Problems = append(a.Problems, r)
	}
	m.Counts.Problems = 41
	m.Panel = views.BatchPanel{Yours: true, Revise: &views.LinkAction{URL: batchURL + "/revise"}, Cancel: &views.LinkAction{URL: batchURL + "/cancel"}}
	return m
}

// measuredPauses are entries of a batch that paused itself: as they are written now, and as
// they once were.
func measuredPauses() []views.HistoryLine {
	line := views.HistoryLine{Seq: 9, Hash: hashOne, At: ago(time.Minute), Who: views.SystemWho(), Channel: "job", Action: "pause",
		Reason: operation.BatchAlarm{Kind: operation.AlarmUnknown, Count: 13, Of: 200, Limit: 50}.Reason(), Links: map[string]string{"limit": operation.AlarmUnknown}}
	old := line
	old.Seq, old.Hash, old.At, old.Reason, old.Links = 8, hashTwo, ago(time.Hour), "errors: 25 of 200", map[string]string{"limit": operation.AlarmErrors}
	return []views.HistoryLine{line, old}
}

// batchFixtures are the states of a batch's page and its lists.
func batchFixtures() []Fixture {
	own := campaign()
	own.Panel = views.BatchPanel{Decide: &views.DecideForm{Form: barred(operation.CodeOwnContent), Required: 2}, Revise: &views.LinkAction{URL: batchURL + "/revise"}}
	stale := campaign()
	stale.Stale = &views.BatchStale{Seen: 1, Now: 2, SeenRevision: 7, NowRevision: 9, SeenHash: hashOne, NowHash: hashTwo, Changes: stale.History.Entries[:1]}
	stale.Panel.Decide.Comment = "The offer reads well, and the list is the one we agreed on."
	first := campaign()
	first.Head.Canary, first.Panel.Decide.Given, first.Panel.Decide.Required = 50, 0, 1
	first.Panel.Decide.Batch = &views.BatchAsk{Phase: operation.PhaseFirst, Items: 50, Rest: 9935, LeftOut: 15, Mails: true}
	first.Head.Money = []views.Money{{Minor: "4992500", Currency: "eur"}}
	canary := underWay(operation.BatchCanary, map[operation.State]int{operation.Confirmed: 31, operation.InProgress: 8, operation.Ready: 11})
	canary.Head.Canary, canary.Sent.Of, canary.Sent.Canary = 50, 50, canaryPart(canary.Counts.Ops)
	running := underWay(operation.BatchRunning, map[operation.State]int{operation.Confirmed: 4211, operation.InProgress: 32, operation.Ready: 718, operation.RetryScheduled: 12, operation.Unknown: 3})
	paused := underWay(operation.BatchRunning, running.Counts.Ops)
	paused.Head.Pause = &views.BatchPause{Who: lead, Why: "The shop is down; wait until it is back.", At: ago(4 * time.Minute)}
	paused.Head.Next, paused.Head.Responsible = operation.DecideResume, views.RoleWho(operation.RoleOpsOwner, true)
	paused.Panel = views.BatchPanel{Yours: true, Resume: &views.LinkAction{URL: batchURL + "/resume"}, Stop: &views.LinkAction{URL: batchURL + "/stop"}}
	auto := underWay(operation.BatchRunning, map[operation.State]int{operation.Confirmed: 1211, operation.InProgress: 4, operation.Ready: 700, operation.Unknown: 13, operation.Review: 2})
	auto.Head.Pause = &views.BatchPause{Auto: "unknown", Alarm: operation.BatchAlarm{Kind: operation.AlarmUnknown, Count: 13, Of: 200, Limit: 50}, At: ago(time.Minute), Who: views.SystemWho()}
	auto.History.Entries = append(measuredPauses(), auto.History.Entries...)
	auto.Head.Next, auto.Head.Responsible, auto.Panel = paused.Head.Next, paused.Head.Responsible, paused.Panel
	unknown := underWay(operation.BatchRunning, map[operation.State]int{operation.Confirmed: 9975, operation.NotExecuted: 6, operation.Unknown: 1, operation.Review: 3})
	unknown.Head.Settling, unknown.Panel = true, views.BatchPanel{}
	well := underWay(operation.BatchClosed, map[operation.State]int{operation.Confirmed: 9985})
	closeBatch(&well)
	rejected := campaign()
	rejected.Head.State, rejected.Counts.Unsent, rejected.Counts.ToCome = operation.BatchRejected, 9985, 0
	rejected.Approved.Signatures[1] = views.Signature{Given: true, Who: lead, At: ago(3 * time.Minute), Decision: operation.Reject, Preset: "not_wanted", Comment: "We do not write to this list any more."}
	closeBatch(&rejected)
	item := closedPage(operation.Confirmed)
	item.Head.Batch, item.Head.BatchRow = &views.Link{Label: campaign().Head.Title, URL: batchURL}, 4102
	inbox := views.InboxModel{Frame: frame(views.SectionInbox, "/inbox"), Tab: views.TabMine, Batches: batchList(campaign(), canaryReview(), auto, unmetBatch()).Rows[:4]}
	inbox.Batches[1].For = lead.Name
	return append([]Fixture{
		{"batch-inbox", views.InboxPage(inbox)},
		{"batch-operation", views.OperationPage(item)},
		{"batch-draft", views.BatchPage(batchDraft())},
		{"batch-pending", views.BatchPage(campaign())},
		{"batch-pending-canary", views.BatchPage(first)},
		{"batch-pending-own", views.BatchPage(own)},
		{"batch-stale", views.BatchPage(stale)},
		{"batch-canary", views.BatchPage(canary)},
		{"batch-canary-review", views.BatchPage(canaryReview())},
		{"batch-running", views.BatchPage(running)},
		{"batch-paused", views.BatchPage(paused)},
		{"batch-paused-auto", views.BatchPage(auto)},
		{"batch-stopped", views.BatchPage(stoppedHalfway())},
		{"batch-settling", views.BatchPage(unknown)},
		{"batch-closed", views.BatchPage(well)},
		{"batch-rejected", views.BatchPage(rejected)},
		{"batch-long", views.BatchPage(longBatch())},
		{"batches", views.BatchesPage(batchList(running, paused, auto, unknown, stoppedHalfway(), campaign()))},
		{"batches-empty", views.BatchesPage(views.BatchesModel{Frame: frame(views.SectionOperations, "/batches")})},
	}, append(batchItemFixtures(running), append(batchTurnFixtures(), batchHaltFixtures()...)...)...)
}

// canaryReview is the canary that people are to look at.
func canaryReview() views.BatchModel {
	m := underWay(operation.BatchCanaryReview, map[operation.State]int{operation.Confirmed: 48, operation.NotExecuted: 2})
	m.Head.Canary, m.Sent.Of, m.Sent.Canary = 50, 50, canaryPart(m.Counts.Ops)
	m.Head.Next, m.Head.Responsible, m.Head.Given, m.Head.Required = operation.DecideApprove, views.RoleWho(operation.RoleApprover, true), 0, 1
	m.Approved.Signatures = []views.Signature{{Who: views.RoleWho(operation.RoleApprover, true), Since: ago(3 * time.Minute)}}
	d := batchDecide()
	d.Given, d.Required, d.Batch = 0, 1, &views.BatchAsk{Phase: operation.PhaseRest, Items: 9935, Mails: true}
	m.Approved.StoppedNow = 2
	m.Panel = views.BatchPanel{Yours: true, Decide: d, Stop: &views.LinkAction{URL: batchURL + "/stop"}}
	return m
}

// longBatch has a hundred thousand rows and titles that do not fit.
func longBatch() views.BatchModel {
	m := underWay(operation.BatchRunning, map[operation.State]int{operation.Confirmed: 98_211, operation.InProgress: 32, operation.Unknown: 1})
	m.Head.Title = "春のご案内：一番茶のダージリンを、一般のお客様より二日早くご注文いただけます（大阪・京都・神戸・奈良・和歌山・滋賀にお住まいのお客様へ、四月二十六日日曜日まで）"
	m.Head.Flow.Label, m.Head.Stage = "Konstantynopolitańczykowianeczka: wiosenna kampania dla stałych klientów sklepów stacjonarnych", "Wiadomość do stałych klientów"
	m.Stages = []views.StageLink{{Number: 1, Title: m.Head.Stage, State: operation.InProgress, Current: true}, {Number: 2, Title: "Notatka w systemie CRM o wysłanej wiadomości", State: operation.Waiting}}
	m.Counts.Total, m.Counts.ToCome, m.Sent.Of = 100_000, 100_000-98_244-15, 99_985
	return m
}

func batchLine(m views.BatchModel) views.BatchLine {
	h := m.Head
	return views.BatchLine{ID: h.ID, URL: h.URL, Revision: h.Revision, BatchStanding: h.BatchStanding, Flow: h.Flow.Label, Stage: h.Stage, Title: h.Title, Destination: h.Destination.Label, Version: h.Number,
		Counts: m.Counts, Next: h.Next, Turn: views.BatchTurn{Kind: h.Turn.Kind, N: h.Turn.N}, Responsible: h.Responsible, Since: ago(time.Hour), Due: in(78 * time.Minute), Given: h.Given, Required: h.Required, Created: h.CreatedAt}
}

func batchList(list ...views.BatchModel) views.BatchesModel {
	m := views.BatchesModel{Frame: frame(views.SectionOperations, "/batches"), StartURL: "/flows", Pager: views.Pager{Next: "?after=x"}}
	for i, x := range append(list, longBatch()) {
		r := batchLine(x)
		r.ID, r.Run = operation.BatchID(fmt.Sprint(batchID[:29], i)), operation.RunID(fmt.Sprint("run_01jrw3v9m8f6xt2c7k4q0hz5d", i))
		m.Rows = append(m.Rows, r)
	}
	return m
}

func batchItemFixtures(running views.BatchModel) []Fixture {
	items := views.BatchItemsModel{Frame: frame(views.SectionOperations, batchURL+"/items"), Batch: views.Link{Label: running.Head.Title, URL: batchURL}, Number: 2, Current: true, Total: 10_000, Path: batchURL + "/items", ExportURL: batchURL + "/items.csv",
		States: []views.Option{{Value: "confirmed"}, {Value: "unknown"}, {Value: views.PartToCome}}, LeftOut: []views.Option{{Value: "duplicate"}, {Value: "suppressed"}}, Diffs: []views.Option{{Value: "added"}, {Value: "changed"}},
		Versions: []views.Option{{Value: "2", Label: "2", Selected: true}, {Value: "1", Label: "1"}}, Pager: views.Pager{Next: "?after=5"}}
	done, doubt, come, gone := itemLine(1, "recipient-1@buyer.example"), itemLine(2, "山田花子@buyer.example"), itemLine(3, "recipient-3@buyer.example"), itemLine(4, "recipient-4@buyer.example")
	done.State, done.OpURL, doubt.State, doubt.OpURL, come.Change, gone.Unsent = operation.Confirmed, "/operations/op_1", operation.Unknown, "/operations/op_2", "changed", true
	bad := itemLine(5, "")
	bad.Problems = []views.BatchProblem{{Code: "empty", Field: "name"}}
	items.Rows = append([]views.BatchItemLine{done, doubt, come, gone, bad}, campaignVersion().LeftOut...)
	none := items
	none.Rows, none.Q, none.Active, none.Number, none.Current = nil, "nobody", true, 1, false
	one := views.BatchItemModel{Frame: frame(views.SectionOperations, batchURL+"/items/1"), Batch: items.Batch, Number: 2, Item: done, Hash: hashOne, Content: campaignSamples().Rows[0].Content,
		Request: mailVersion().Request, Next: batchURL + "/items/2", All: items.Path}
	act := func(a operation.BatchAct) views.BatchActModel {
		return views.BatchActModel{Frame: frame(views.SectionOperations, batchURL+"/"+string(a)), Form: form(batchURL + "/" + string(a)), Act: a, Batch: items.Batch, Counts: running.Counts, Mails: true, Where: "Postrider Mail"}
	}
	resume := act(operation.BatchActResume)
	resume.Pause = &views.BatchPause{Auto: "errors", Alarm: operation.BatchAlarm{Kind: operation.AlarmErrors, Count: 25, Of: 200, Limit: 100}, At: ago(time.Minute)}
	return []Fixture{
		{"batch-items", views.BatchItemsPage(items)},
		{"batch-items-none", views.BatchItemsPage(none)},
		{"batch-item", views.BatchItemPage(one)},
		{"batch-pause", views.BatchActPage(act(operation.BatchActPause))},
		{"batch-resume", views.BatchActPage(resume)},
		{"batch-stop", views.BatchActPage(act(operation.BatchActStop))},
		{"batch-cancel", views.BatchActPage(act(operation.BatchActCancel))},
	}
}
