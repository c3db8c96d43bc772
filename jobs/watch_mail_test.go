package jobs

import (
	"mime"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// TestReviewIsMailedInTheReadersLanguage: a review goes once, through a real mail server,
// to each person who chose it, in the language of each.
func TestReviewIsMailedInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	x := newTold(t)
	for i, who := range []store.Actor{x.ops[0], x.ops[1]} {
		if err := x.store.SetPlace(t.Context(), who, []string{"ja", "pl"}[i], "Asia/Tokyo"); err != nil {
			t.Fatal(err)
		}
		if err := x.store.SaveNoticeSettings(t.Context(), who, store.NoticeSettings{Mail: true, DigestAt: 480, Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeReport: operation.NoticeNow}}); err != nil {
			t.Fatal(err)
		}
	}
	p := operation.LastPeriod(operation.Weekly, time.Now(), time.UTC)
	if _, err := x.store.MakeReport(t.Context(), store.NoticeChannels{Mail: true}, p, ""); err != nil {
		t.Fatal(err)
	}
	x.start(t)
	got := map[string]bool{}
	for _, m := range x.mails(t, 2) {
		subject, _ := new(mime.WordDecoder).DecodeHeader(strings.Trim(toText(m.Fields["subject"]), `"`))
		for name, begins := range map[string]string{"ops@example.test": "週次レビュー", "ops2@example.test": "Przegląd tygodniowy"} {
			if strings.Contains(toText(m.Fields["to"]), name) {
				got[name] = true
				if !strings.HasPrefix(subject, begins) {
					t.Errorf("the mail to %s says %q", name, subject)
				}
			}
		}
	}
	if len(got) != 2 {
		t.Errorf("mails went to %v", got)
	}
}
