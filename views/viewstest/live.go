package viewstest

import "holdpoint/views"

func liveFixtures() []Fixture {
	on := views.ShortcutsModel{Frame: frame("", views.PathShortcuts), Switch: views.Form{Action: views.PathShortcuts + "/keys", FormID: "f1"}}
	off := on
	off.KeysOff = true
	return []Fixture{{"shortcuts", views.ShortcutsPage(on)}, {"shortcuts-off", views.ShortcutsPage(off)}}
}
