package viewstest

import "holdpoint/views"

func liveFixtures() []Fixture {
	on := views.ShortcutsModel{Frame: frame("", views.PathShortcuts), Switch: views.Form{Action: views.PathShortcuts + "/keys", FormID: "f1"}, History: true}
	off := on
	off.KeysOff, off.History = true, false
	return []Fixture{{"shortcuts", views.ShortcutsPage(on)}, {"shortcuts-off", views.ShortcutsPage(off)}}
}
