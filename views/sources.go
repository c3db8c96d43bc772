package views

import (
	"context"
	"time"

	"holdpoint/views/text"
)

// PathSources is the list of sources.
const PathSources = "/sources"

var deliveryEntries = []subEntry{{PathDeliveries, "deliveries.title"}, {PathSources, "sources.title"}}

// SourcesModel lists the sources.
type SourcesModel struct {
	Frame
	Rows []SourceLine
}

// SourceLine is one source of the list.
type SourceLine struct {
	Key, URL, Title, Kind, Account, Environment string
	LastAt                                      time.Time // zero = nothing yet
	Silent                                      bool
}

// SourcePageModel shows one source.
type SourcePageModel struct {
	Frame
	Key, Title, Kind, Account, Environment string
	Address                                string // where its sender posts; "" = nothing is posted
	Scheme                                 string
	Answer                                 int
	Flows                                  []Link // that it can start
	Version                                int
	AppliedAt                              time.Time
	LastAt, LastNew                        time.Time
	Silence                                time.Duration // 0 = silence is not reported
	SilentSince                            time.Time     // zero = not silent
	Task                                   *Link         // about the silence
	SkewMeasured                           int
	Skew, SkewMedian                       time.Duration // how far the sender's clock is behind ours
	SkewAt                                 time.Time
	SkewFar                                bool // half of the tolerance is used up, or more
	Tolerance                              time.Duration
	Secrets                                []SecretLine
	Refused                                []RefusedLine
	RefusedURL                             string
	Doubles                                []DoubleLine
	Days                                   int // how far back the counts look
}

// SecretLine is one reference of a source.
type SecretLine struct {
	Reference string
	Readable  bool
	UsedAt    time.Time // zero = no valid signature was made with it yet
	// Spare: another reference was used since, and this one was not for a week.
	Spare bool
}

// RefusedLine is how often a source was refused for one reason.
type RefusedLine struct {
	Code string
	N    int
	Last time.Time
}

// DoubleLine is a topic that arrives through two subscriptions.
type DoubleLine struct {
	Topic, First, Other, Event string
	URL                        string
	N                          int
	Last                       time.Time
}

// skewKey says on which side of ours the sender's clock is.
func skewKey(prefix string, d time.Duration) string {
	switch {
	case d.Abs() < time.Second:
		return prefix + "same"
	case d > 0:
		return prefix + "behind"
	}
	return prefix + "ahead"
}

// secretIcon is the icon of a reference: readable, or not set.
func secretIcon(x SecretLine) string {
	if x.Readable {
		return "tick"
	}
	return "warning"
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// reasonText says why deliveries were refused, or gives the code where there is no word.
func reasonText(ctx context.Context, code string) string {
	if k := "delivery.why." + code; text.Has(k) {
		return text.From(ctx).T(k)
	}
	return code
}
