package views

// ContentView is content as people read it: a mail, or fields.
type ContentView struct {
	Mail   *MailView
	Fields []Field
	// Erased says that the body was erased for privacy; hash and decisions stay.
	Erased bool
}

// Field is one field of content that is not a mail (task, invoice, coupon).
type Field struct {
	// Name is the key in the content; known ones have a label in the catalogues.
	Name  string
	Label string // used where Name has no label in the catalogues
	Value string
	Main  bool // the field that says what it is about
}

// MailView is a mail as a reader would see it.
type MailView struct {
	From    string
	To      []string
	Cc      []string
	Subject string
	Text    string // the plain-text part
	// HTMLFrame is the address of the HTML part, served with its own policy; it is
	// shown only in a sandboxed frame. "" = the mail has no HTML part.
	HTMLFrame string
	// Links lists where the links of the HTML part lead.
	Links []Link
}
