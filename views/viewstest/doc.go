// Package viewstest holds a fixture for every state of every page. Golden files, the
// checks of all languages and the gallery use the same fixtures.
//
// It may import views, views/text, static and operation of ours. Nothing of the
// product imports it.
package viewstest

import (
	"time"

	"github.com/a-h/templ"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/views/text"
)

// Fixture is one page in one state.
type Fixture struct {
	Name string // also the golden file's name
	Page templ.Component
}

// Now is the moment that every fixture shows: 16 April 2026, 09:42 in Warsaw.
var Now = time.Date(2026, 4, 16, 7, 42, 0, 0, time.UTC)

// Printer gives the reader of a fixture: each language in a time zone of its own.
func Printer(lang string) *text.Printer {
	name := map[string]string{"en": "Europe/Warsaw", "pl": "Europe/Warsaw", "ja": "Asia/Tokyo"}[lang]
	zone, err := time.LoadLocation(name)
	if err != nil {
		zone = time.UTC
	}
	return text.New(lang, zone, Now)
}

// All lists every fixture.
func All() []Fixture {
	var list []Fixture
	for _, part := range [][]Fixture{accessFixtures(), peopleFixtures(), accountFixtures(), factorFixtures(), inboxFixtures(), approvalFixtures(), automaticFixtures(),
		doubtFixtures(), closedFixtures(), editFixtures(), runFixtures(), listFixtures(), viewFixtures(), figureFixtures(), cardFixtures(), oddFixtures(), shapeFixtures(),
		installationFixtures(), errorFixtures(), settlingFixtures(), noticeFixtures(), decidingFixtures(), liveFixtures(), groupFixtures(), limitFixtures(), reportFixtures(), historyFixtures(), acceptanceFixtures(), retentionFixtures(), caseFixtures(), integrityFixtures(), causeFixtures(), incidentFixtures(), newsFixtures(), batchFixtures(), replacedFixtures(), rulesFixtures(), listingFixtures(), startingFixtures(), suppressionFixtures(), sourceFixtures()} {
		list = append(list, part...)
	}
	return list
}

// ago and in give times before and after Now.
func ago(d time.Duration) time.Time { return Now.Add(-d) }
func in(d time.Duration) time.Time  { return Now.Add(d) }

var (
	lead     = views.PersonWho("Mirela Tanaka", false)
	editor   = views.PersonWho("Jonas Berg", false)
	opsOwner = views.PersonWho("Anna Wolska", true)
	support  = views.PersonWho("Tomek Lis", false)
	sendJob  = views.Who{Kind: views.WhoJob, Name: "execute"}
	lookJob  = views.Who{Kind: views.WhoJob, Name: "lookup"}
	model    = views.Who{Kind: views.WhoModel, Name: "draft-writer 2"}
)

const (
	opTask  operation.ID = "op_01jrw3v9m8f6xt2c7k4q0hz5da"
	opMail  operation.ID = "op_01jrw3v9m9e1wa8n5p3r6bys4c"
	hashOne              = "4be190c7a1d24be79d0f31c65a7c2e90f15c0a83d7be61f2a90c4d1e8f6177d2"
	hashTwo              = "8d0251fe77c09b4410ad8be2f3156cc7e09a41bb5d26f3a8e4c7190ffb32c3a9"
)

// frame is the frame of a signed-in ops owner.
func frame(section views.Section, path string) views.Frame {
	return views.Frame{Path: path, Section: section, Waiting: 11,
		Viewer: &views.Viewer{Name: "Anna Wolska", Email: "anna@example.test", Roles: []operation.Role{operation.RoleOpsOwner}}}
}

// form is a form as a handler would fill it.
func form(action string) views.Form {
	return views.Form{Action: action, FormID: "frm_01jrw4", Version: "ver_01jrw3v9n2k7", Hash: hashOne, Revision: 14}
}

// barred is a form that may not be used.
func barred(code operation.Code, params ...string) views.Form {
	return views.Form{Barred: operation.Refuse(code, params...).By(operation.Responsible{Role: operation.RoleOpsOwner})}
}

func reason(action string) *views.ReasonForm { return &views.ReasonForm{Form: form(action)} }

func stages(current int, states ...operation.State) []views.StageLink {
	titles := []string{"CRM task", "Follow-up e-mail", "Goodwill coupon"}
	var list []views.StageLink
	for i, s := range states {
		list = append(list, views.StageLink{Number: i + 1, Title: titles[i], URL: "/operations/op_other", State: s, Current: i == current})
	}
	return list
}
