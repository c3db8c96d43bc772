package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func checkpoints() views.CheckpointsView {
	v := views.CheckpointsView{Waiting: true}
	for i := range 3 {
		v.Rows = append(v.Rows, views.CheckpointRow{Number: int64(412 - i), Size: int64(183_204 - 17*i), At: ago(time.Duration(5*i+3) * time.Minute), Signer: "holdpoint+5bd77d1c",
			Root: "2d711642b726ac440162" + "7ca9fbac32f5cc530fb1903cc4db0225871792" + "1a4821"})
	}
	return v
}

func integrityFixtures() []Fixture {
	signed := views.InstallationModel{Frame: frame("", views.PathInstallation), Pause: reason(views.PathInstallation + "/pause"), Checkpoints: checkpoints()}
	gone := signed
	gone.Checkpoints.Missing = 3
	lost := int64(128)
	open := views.RestoreModel{Frame: frame("", views.PathRestore), Found: true, Why: "witness_older", Since: ago(5 * time.Hour), Until: ago(time.Hour), At: ago(40 * time.Minute), Missing: &lost,
		All: 7, Open: 4, Unmarked: 1, Confirmed: 2, Compared: 1, OpenOnly: false,
		Sources: []views.RestoreSource{{Name: "shopify-flow", Newest: ago(5 * time.Hour), SentNew: 2}, {Name: "coupon-form"}},
		Places:  []views.RestorePlace{{Name: "crm", Open: 3, InDoubt: 1}, {Name: "billing", Open: 1}},
		Compare: reason(views.PathRestore + "/compare"), CompareAll: reason(views.PathRestore + "/compare-all"),
		Rows: []views.RestoreRow{
			{ID: "op_01h2xcejqtf2nbrexx3vqjhp41", URL: "/operations/op_01h2xcejqtf2nbrexx3vqjhp41", Title: "Coupon for Zofia Łęcka", Flow: "coupon", Destination: "crm", Was: operation.Ready, State: operation.Ready, Lookup: "none", LookedUp: ago(10 * time.Minute)},
			{ID: "op_01h2xcejqtf2nbrexx3vqjhp42", URL: "/operations/op_01h2xcejqtf2nbrexx3vqjhp42", Title: "佐藤花子様への請求書", Flow: "invoice", Destination: "billing", Was: operation.Unknown, State: operation.Review, InDoubt: true, Lookup: "unreachable", LookedUp: ago(8 * time.Minute)},
			{ID: "op_01h2xcejqtf2nbrexx3vqjhp43", URL: "/operations/op_01h2xcejqtf2nbrexx3vqjhp43", Title: "Follow-up task", Flow: "campaign-follow-up", Destination: "crm", Was: operation.PendingApproval, State: operation.PendingApproval},
			{ID: "op_01h2xcejqtf2nbrexx3vqjhp44", URL: "/operations/op_01h2xcejqtf2nbrexx3vqjhp44", Title: "Coupon for Jan Nowak", Flow: "coupon", Destination: "crm", Was: operation.Ready, State: operation.Confirmed, Lookup: "one", LookedUp: ago(9 * time.Minute), Settled: "confirmed", Who: views.SystemWho(), SettledAt: ago(9 * time.Minute)},
			{ID: "op_01h2xcejqtf2nbrexx3vqjhp45", URL: "/operations/op_01h2xcejqtf2nbrexx3vqjhp45", Title: "Coupon for Ewa Wójcik", Flow: "coupon", Destination: "crm", Was: operation.Draft, State: operation.Draft, Settled: "compared", Who: support, SettledAt: ago(4 * time.Minute), Reason: "The CRM's log of the five hours does not name it"},
		}, Pager: views.Pager{Next: views.PathRestore + "?after=op_01h2xcejqtf2nbrexx3vqjhp45&show=all"}}
	open.Batches, open.CompareBatches = restoredBatches(), reason(views.PathRestore+"/compare-batches")
	over := open
	over.Batches = open.Batches[1:]
	over.Open, over.Unmarked, over.Places, over.Rows, over.Pager = 0, 0, nil, open.Rows[3:], views.Pager{}
	over.All, over.Confirmed, over.Compared = 2, 1, 1
	over.Ended = &views.RestoreEnd{Who: support, At: ago(time.Minute), Reason: "Compared with the CRM's log and the billing list"}
	wrong := open
	wrong.OpenOnly, wrong.Rows = true, open.Rows[:3]
	w := *reason(views.PathRestore + "/compare")
	w.Errors = map[string]views.Say{"": views.Sentence("restore.choose_alone")}
	wrong.Compare = &w
	moved := views.RestoreModel{Frame: frame("", views.PathRestore), Found: true, Why: "witness_server", Since: ago(time.Hour), Until: ago(time.Hour), At: ago(time.Minute), OpenOnly: true}
	none := views.RestoreModel{Frame: frame("", views.PathRestore), OpenOnly: true}
	held := views.InstallationModel{Frame: frame("", views.PathInstallation), Checkpoints: checkpoints(), Paused: paused("witness_checkpoint"), Restore: &views.RestoreNote{Open: 4, All: 7}, Resume: reason(views.PathInstallation + "/resume")}
	held.Resume.Confirm = true
	held.Frame.SendsPaused = true
	return []Fixture{{"installation-checkpoints", views.InstallationPage(signed)}, {"installation-entries-missing", views.InstallationPage(gone)}, {"installation-restored", views.InstallationPage(held)},
		{"restore", views.RestorePage(open)}, {"restore-over", views.RestorePage(over)}, {"restore-wrong", views.RestorePage(wrong)}, {"restore-moved", views.RestorePage(moved)}, {"restore-none", views.RestorePage(none)}}
}

// restoredBatches are one that is open and two that are reconciled.
func restoredBatches() []views.RestoreBatchRow {
	at := func(n string) (operation.BatchID, string) {
		return operation.BatchID("bat_01h2xcejqtf2nbrexx3vqjhp" + n), views.PathBatches + "/bat_01h2xcejqtf2nbrexx3vqjhp" + n
	}
	first, url1 := at("51")
	second, url2 := at("52")
	third, url3 := at("53")
	return []views.RestoreBatchRow{
		{ID: first, URL: url1, Title: "Spring has come to the shop", Flow: "spring-mailing", Destination: "mail", Was: operation.BatchCanaryReview, State: operation.BatchCanaryReview, Included: 196, Released: 20},
		{ID: second, URL: url2, Title: "春のお知らせ", Flow: "spring-mailing", Destination: "mail", Was: operation.BatchPendingApproval, State: operation.BatchCancelled, Included: 1200, Settled: "over", Who: views.SystemWho(), SettledAt: ago(6 * time.Minute)},
		{ID: third, URL: url3, Title: "Wiosenne przypomnienie", Flow: "spring-mailing", Destination: "mail", Was: operation.BatchRunning, State: operation.BatchRunning, Included: 300, Released: 120, Settled: "compared", Who: support, SettledAt: ago(4 * time.Minute), Reason: "Their list of the five hours names none of the last 180"},
	}
}
