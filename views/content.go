package views

// ContentView is content as people read it: a mail, the answer to a paused graph, or
// fields.
type ContentView struct {
	Mail      *MailView
	Interrupt *InterruptView // what a paused graph asks, and its answer
	Fields    []Field
	// Cut says that there are more fields than are shown.
	Cut Cut
	// Erased says that the body was erased for privacy; hash and decisions stay.
	Erased bool
	// Gone says when, by whom and why; nil = it is not known.
	Gone *Erasure
}

// Field is one field of content that is not a mail (task, invoice, coupon).
type Field struct {
	// Name is the place in the content, keys joined by dots; known keys have a label in
	// the catalogues.
	Name  string
	Label string // used where Name has no label in the catalogues
	Value string
	Main  bool // the field that says what it is about
	Cut   Cut  // the value is longer than what is shown
	// Money is set for an amount in minor units whose currency the content names.
	Money *Money
	// Table is set for a list of like entries, such as the lines of an invoice.
	Table *Table
}

// Table is a list of like entries of content.
type Table struct {
	Columns []string // names of the entries' keys
	Rows    [][]Cell
	Total   int // entries in the content; more than len(Rows) = the rest is not shown
	// Sum is the sum of the entries' amounts, as Holdpoint counts it; nil = they have none.
	Sum *Money
}

// Cell is one value of a Table.
type Cell struct {
	Value string
	Money *Money
}

// Cut says how much of something is shown. The zero value: all of it.
type Cut struct {
	Shown int // bytes, or entries of a list
	Total int
	URL   string // where the whole can be had; "" = nowhere
}

// Whole reports that nothing is left out.
func (c Cut) Whole() bool { return c.Total <= c.Shown }

// MailView is a mail as a reader would see it. Addresses are those of the exact request
// where it names them, else those of the content.
type MailView struct {
	From    string
	ReplyTo []string
	To      []string
	Cc      []string
	Bcc     []string // receive it, and no header says so
	Subject string
	Text    string // the plain-text part
	TextCut Cut
	// HTMLFrame is the address of the HTML part, served with its own policy; it is
	// shown only in a sandboxed frame. "" = the mail has no HTML part.
	HTMLFrame string
	HTMLBytes int
	HTMLURL   string // the HTML part's source, as plain text
	// Links lists where the links of both parts lead; LinksLeft is how many are not listed.
	Links       []MailLink
	LinksLeft   int
	Attachments []Attachment
	// More holds what the content says besides: nothing is left out.
	More []Field
}

// Recipients counts the addresses that receive the mail.
func (m MailView) Recipients() int {
	seen := map[string]bool{}
	for _, list := range [][]string{m.To, m.Cc, m.Bcc} {
		for _, a := range list {
			seen[BareAddress(a)] = true
		}
	}
	return len(seen)
}

// MailLink is one link of a mail: what it says, and what it really opens.
type MailLink struct {
	Label string // the link's words; "" = it has none (a picture)
	URL   string // as it stands in the mail
	// Host is the host that a reader's browser would open, in its ASCII form; "" = none
	// (a mail address, a place in the same mail).
	Host string
	// Claims is another host that the link's words name; "" = they name none, or this one.
	Claims string
	// Warning is another reason to look twice; "" = none.
	Warning LinkWarning
}

// LinkWarning says why a link needs a second look.
type LinkWarning string

// The warnings of a link; each has a key "link.warn.<word>".
const (
	LinkScript   LinkWarning = "script"   // runs something, or holds its target in itself
	LinkUserInfo LinkWarning = "userinfo" // text before an @ looks like a host
	LinkForeign  LinkWarning = "foreign"  // the host's name has letters beyond ASCII
	LinkAddress  LinkWarning = "address"  // an IP address instead of a name
	LinkBroken   LinkWarning = "broken"   // no address that could be opened
	LinkPlain    LinkWarning = "plain"    // not encrypted
)

// LinkWarnings lists them all.
var LinkWarnings = []LinkWarning{LinkScript, LinkUserInfo, LinkForeign, LinkAddress, LinkBroken, LinkPlain}

// Attachment is one file that travels with a mail.
type Attachment struct {
	Name string
	Type string // as the request names it; "" = not named
	Size int    // bytes; -1 = not known (the destination fetches it)
	URL  string // where the destination is told to fetch it; "" = it is in the request
	Hash string // SHA-256 of its bytes, hex; "" = not known
}
