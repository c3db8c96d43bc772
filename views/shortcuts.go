package views

import "slices"

// ShortcutsModel is the list of keys, with the switch for single keys.
type ShortcutsModel struct {
	Frame
	Switch Form
}

// shortcut is one line of the list: keys pressed one after the other (or together, with
// "+" between them), and what they do.
type shortcut struct {
	keys []string
	does string // catalogue key
}

type shortcutGroup struct {
	title string // catalogue key
	list  []shortcut
}

// groups lists all keys. static/js/keys.js acts on them.
func (m ShortcutsModel) groups() []shortcutGroup {
	anywhere := []shortcut{{[]string{"g", "i"}, "shortcuts.inbox"}, {[]string{"g", "o"}, "shortcuts.operations"}}
	if hasNav(m.Viewer, "/history") {
		anywhere = append(anywhere, shortcut{[]string{"g", "h"}, "shortcuts.history"})
	}
	anywhere = append(anywhere, shortcut{[]string{"/"}, "shortcuts.search"}, shortcut{[]string{"?"}, "shortcuts.list"})
	return []shortcutGroup{
		{"shortcuts.in_lists", []shortcut{{[]string{"j"}, "shortcuts.down"}, {[]string{"k"}, "shortcuts.up"}, {[]string{"Enter"}, "shortcuts.open"}}},
		{"shortcuts.on_operation", []shortcut{{[]string{"a"}, "shortcuts.approve"}, {[]string{"r"}, "shortcuts.reconcile"}, {[]string{"Ctrl", "+", "Enter"}, "shortcuts.send"}}},
		{"cases.shortcuts", []shortcut{{[]string{"x"}, "cases.shortcut.pick"}, {[]string{"s"}, "cases.shortcut.settle"}, {[]string{"t"}, "cases.shortcut.take"}, {[]string{"n"}, "cases.shortcut.next"}}},
		{"shortcuts.anywhere", anywhere},
	}
}

// hasNav reports that the viewer's navigation leads there: "g" and a letter follow it.
func hasNav(v *Viewer, path string) bool {
	return slices.ContainsFunc(navFor(v), func(e navEntry) bool { return e.path == path })
}
