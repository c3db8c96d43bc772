package views

import (
	"context"
	"time"

	"holdpoint/views/text"
)

// SheetModel is one version of a flow as a sheet for people: to be printed and signed.
type SheetModel struct {
	Frame
	Flow         FlowModel
	URL          string // of the version's page
	Current      bool
	Hash         string
	Introduction string // Markdown; "" = the flow has none
	Outputs      []SheetNamed
	Stages       []SheetStage
	Prompts      []SheetPrompt
	Cases        []SheetCase
}

// SheetNamed is a name of the file with its name for people.
type SheetNamed struct{ Key, Says string }

// SheetStage is one stage with what protects its effect.
type SheetStage struct {
	FlowStage
	Account, Environment string
	SettleAfter          time.Duration
	Protection           SheetProtection
}

// SheetProtection is what the destination documents against a second effect.
type SheetProtection struct {
	Key           bool
	Header        string
	Retention     time.Duration // 0 = not published
	Proven        time.Time     // zero = not proven
	Broken        time.Time     // a later probe showed that it does not hold; zero = none did
	ReplaysErrors bool
	Unique        string
	Overwrites    bool
	Lookup        bool
	Lag           time.Duration
	Authoritative bool
}

// SheetPrompt is a prompt or brief with its version; "" = the file names none.
type SheetPrompt struct{ Name, Version, Text string }

// SheetCase is one test case.
type SheetCase struct{ Name, Title, Given, Expect string }

// protectionWords says in sentences what stands between one effect and two.
func protectionWords(ctx context.Context, s SheetStage) []string {
	p, x := text.From(ctx), s.Protection
	var out []string
	switch {
	case x.Key && !x.Broken.IsZero():
		out = append(out, p.T("sheet.key_broken", "Header", x.Header, "On", p.Date(x.Broken)))
	case x.Key && x.Retention > 0 && !x.Proven.IsZero():
		out = append(out, p.T("sheet.key_proven", "Header", x.Header, "For", p.Duration(x.Retention), "On", p.Date(x.Proven)))
	case x.Key && x.Retention > 0:
		out = append(out, p.T("sheet.key_unproven", "Header", x.Header, "For", p.Duration(x.Retention)))
	case x.Key:
		out = append(out, p.T("sheet.key_unpublished", "Header", x.Header))
	default:
		out = append(out, p.T("sheet.no_key"))
	}
	if x.Key && x.ReplaysErrors {
		out = append(out, p.T("sheet.replays"))
	}
	switch {
	case x.Unique != "" && !x.Broken.IsZero():
		out = append(out, p.T("sheet.unique_broken", "Field", x.Unique, "On", p.Date(x.Broken)))
	case x.Unique != "":
		out = append(out, p.T("sheet.unique", "Field", x.Unique))
	}
	if x.Overwrites {
		out = append(out, p.T("sheet.overwrites"))
	}
	switch {
	case x.Lookup && x.Authoritative:
		out = append(out, p.T("sheet.lookup_reliable", "Lag", p.Duration(x.Lag)))
	case x.Lookup:
		out = append(out, p.T("sheet.lookup", "Lag", p.Duration(x.Lag)))
	default:
		out = append(out, p.T("sheet.no_lookup"))
	}
	if s.SettleAfter > 0 {
		out = append(out, p.T("sheet.settle", "For", p.Duration(s.SettleAfter)))
	}
	return out
}
