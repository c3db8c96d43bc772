package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// PathNews is the list of news whose operation is not known.
const PathNews = "/news"

// NewsStates are what can have become of news; each has a key "news.state.<word>".
var NewsStates = []string{"waiting", "aside", "tied"}

// NewsModel is the list of news.
type NewsModel struct {
	Frame
	Q            string
	Active       bool // some filter is set
	Waiting      int  // how much waits in all
	More         bool // and more
	States       []Option
	Kinds        []Option
	Destinations []Option
	Rows         []NewsRow
	Pager        Pager
}

// NewsRow is one piece of news.
type NewsRow struct {
	ID          string
	URL         string
	Kind        operation.NewsKind
	Destination string
	Account     string
	Names       string // the operation that it names
	Reference   string
	Key         string
	At          time.Time // by the destination's clock; zero = it does not say
	ReceivedAt  time.Time
	Repeats     int
	State       string
	Operation   *Link
	Settled     *NewsSettled
}

// NewsSettled says who ended the waiting.
type NewsSettled struct {
	Who    Who
	At     time.Time
	Reason string
}

// NewsPageModel is one piece of news with what can be decided about it.
type NewsPageModel struct {
	Frame
	NewsRow
	Body  string // masked; "" = it is kept elsewhere or was erased
	Why   Say    // why it could not be tied by itself
	Tie   *NewsTieForm
	Aside *ReasonForm
}

// NewsTieForm ties news to an operation.
type NewsTieForm struct {
	Form
	Operation string
	Reason    string
}

// NewsStep is one piece of news on the page of its operation.
type NewsStep struct {
	Kind      operation.NewsKind
	At        time.Time // when it happened, by the destination's clock
	Received  time.Time
	Reference string
	Link      *Link
	By        Who // who tied it by hand; empty = it named the operation
	Repeats   int
}

// CallbackCard is what a destination's page says about its callbacks.
type CallbackCard struct {
	Address string // to be entered at the provider; "" = the profile describes none
	Scheme  string
	Last    time.Time // zero = none ever came
	Waiting int
	Refused []CallbackRefusal
	NewsURL string
}

// CallbackRefusal is a callback that was not believed or could not be read.
type CallbackRefusal struct {
	At     time.Time
	Code   string // with a key "callback.why.<code>"
	Detail string
	Status int
	Skew   time.Duration
}

// callbackReasons are why a callback was not taken; each has a key "callback.why.<word>".
var callbackReasons = []string{"signature_missing", "signature", "signature_time", "secret", "token_used", "topic", "certificate", "subscribe_url", "subscription",
	"unsubscribed", "syntax", "nul", "items", "entry", "too_many", "too_large", "content_encoding", "body_cut"}

// callbackWhy says why a callback was not taken.
func callbackWhy(p *text.Printer, code string) string {
	if k := "callback.why." + code; text.Has(k) {
		return p.T(k)
	}
	return code
}

// newsIcon is the icon of a kind of news.
func newsIcon(k operation.NewsKind) string {
	switch k {
	case operation.NewsDelivered, operation.NewsEffect:
		return "confirmed"
	case operation.NewsAccepted:
		return "mail"
	case operation.NewsDeferred:
		return "waiting"
	case operation.NewsPlain:
		return "circle"
	}
	return "warning"
}

func tiePlaces(p *text.Printer) []place {
	return append([]place{{"operation", "tie-operation", p.T("news.tie.operation")}}, reasonPlaces(p, "news_tie")...)
}
