package views

// SavedView is filters of the list of operations under a name.
type SavedView struct {
	ID      string
	Name    string
	URL     string // the list with its filters
	Shared  bool   // everybody sees it
	Default bool   // the viewer's list opens with it
	Current bool   // the list shows it now
	// Filters says in words what it is limited to.
	Filters []FilterWord
	// The forms about it. Barred where the viewer may not.
	Rename, Delete, MakeDefault Form
}

// FilterWord is one filter in words.
type FilterWord struct{ Label, Value string }

// ViewForm saves the filters of the list under a name. Field names: filters, name,
// shared (yes), default (yes).
type ViewForm struct {
	Form
	Filters  string       // a query string; "" = nothing is filtered, so there is nothing to save
	Words    []FilterWord // what they are
	Name     string
	Shared   bool
	Default  bool
	MayShare bool // the viewer is an administrator
}

// ViewsModel is the page of saved views.
type ViewsModel struct {
	Frame
	Views []SavedView // the viewer's own first
	Save  *ViewForm   // nil = nothing is filtered
	// NoDefault lets the list open with all operations again; nil = it does.
	NoDefault *Form
}
