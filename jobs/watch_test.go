package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// limitOrder is a mail about a limit, and reportOrder one about a review, as the record
// gives them.
func limitOrder(lang string, kind operation.NoticeKind, l store.LimitNotice) store.NoticeOrder {
	o := sampleOrder(lang, map[string]string{"en": "Oli Ops", "ja": "田中 さくら", "pl": "Łucja Żółć"}[lang], kind, "")
	l.Since = o.At.Add(-39 * time.Hour)
	o.Items = []store.NoticeItem{{ID: "ntc_01", Kind: kind, Subject: "brc_01h455vb4pex5vsknk084sn02q", Limit: &l}}
	return o
}

func reportOrder(lang string, k operation.ReportKind) store.NoticeOrder {
	o := sampleOrder(lang, map[string]string{"en": "Oli Ops", "ja": "田中 さくら", "pl": "Łucja Żółć"}[lang], operation.NoticeReport, "")
	zone, _ := time.LoadLocation("Europe/Warsaw")
	p := operation.LastPeriod(k, o.At, zone)
	line := func(code, name string, kind operation.ReviewKind, n, of, bn, bof int64) operation.ReviewLine {
		return operation.ReviewLine{Code: code, Name: name, Kind: kind, Now: operation.ReviewNumber{N: n, Of: of}, Before: operation.ReviewNumber{N: bn, Of: bof}}
	}
	o.Items = []store.NoticeItem{{ID: "ntc_01", Kind: operation.NoticeReport, Subject: "rep_01h455vb4pex5vsknk084sn02q", Report: &store.ReportNotice{Kind: k, From: p.From, To: p.To, Zone: "Europe/Warsaw",
		Titles: map[string]map[string]string{"northdesk-crm": {"en": "Northdesk CRM", "ja": "Northdesk顧客管理"}},
		Lines: []operation.ReviewLine{line("open_at_end", "", operation.ReviewCount, 7, 0, 3, 0), line("adopted", "", operation.ReviewCount, 1, 0, 0, 0), line("key_reuse", "", operation.ReviewCount, 37, 0, 12, 0),
			line("destination_errors", "northdesk-crm", operation.ReviewRate, 72, 2310, 9, 2204), line("approval_delay", "", operation.ReviewDuration, 1440, 512, 0, 0), line("events", "", operation.ReviewCount, 4812, 0, 4590, 0)}}}}
	return o
}

// TestGoldenFigureMails holds the mails about limits and reviews, in three languages, to
// what somebody has read.
func TestGoldenFigureMails(t *testing.T) {
	n := composer()
	over := store.LimitNotice{LimitSettings: store.LimitSettings{Figure: operation.FigureUnresolved, Side: operation.LimitOver, Value: 5}, Measured: operation.Measure{N: 7}, Worst: operation.Measure{N: 9}}
	rate := store.LimitNotice{Titles: store.LimitTitles{Destination: map[string]string{"en": "Northdesk CRM", "ja": "Northdesk顧客管理"}}, LimitSettings: store.LimitSettings{Figure: operation.FigureDestinationErrors, Destination: "northdesk-crm", Side: operation.LimitOver, Value: 200, SpanHours: 720},
		Measured: operation.Measure{N: 72, Of: 2310, Rate: true}, Worst: operation.Measure{N: 72, Of: 2310, Rate: true}}
	silent := store.LimitNotice{Titles: store.LimitTitles{Source: map[string]string{"en": "Orders of the shop"}}, LimitSettings: store.LimitSettings{Figure: operation.FigureDeliveries, Source: "shopify-orders", Side: operation.LimitUnder, Value: 1, SpanHours: 6}}
	back := over
	back.Back, back.Measured = true, operation.Measure{N: 4}
	for name, o := range map[string]store.NoticeOrder{
		"limit.en": limitOrder("en", operation.NoticeLimit, over), "limit.ja": limitOrder("ja", operation.NoticeLimit, rate), "limit.pl": limitOrder("pl", operation.NoticeLimit, silent),
		"limit_back.en": limitOrder("en", operation.NoticeLimitBack, back), "limit_back.ja": limitOrder("ja", operation.NoticeLimitBack, back), "limit_back.pl": limitOrder("pl", operation.NoticeLimitBack, back),
		"report.en": reportOrder("en", operation.Weekly), "report.ja": reportOrder("ja", operation.Monthly), "report.pl": reportOrder("pl", operation.Weekly),
	} {
		req, err := n.compose(o)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "mail", name+".eml")
		got := strings.ReplaceAll(req.Body, "\r\n", "\n") + "\n" + readable(t, req.Body)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs:\n%s", name, got)
		}
		if strings.Contains(got, "⟦") {
			t.Errorf("%s has a sentence that no catalogue knows", name)
		}
		if again, _ := n.compose(o); again.Body != req.Body {
			t.Errorf("%s: the second try has other bytes", name)
		}
	}
}
