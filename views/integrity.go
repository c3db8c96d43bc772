package views

import (
	"time"

	"holdpoint/operation"
)

// PathRestore is the page on which a restored database is reconciled.
const PathRestore = PathInstallation + "/restore"

// FlashCompared says that operations were compared with their destination.
const FlashCompared = "flash.compared"

// RestoreReasons are the words for how a database was found restored, RestoreSettled for
// how an operation is reconciled.
var (
	RestoreReasons = []string{"witness_older", "witness_server", "witness_timeline", "witness_checkpoint"}
	RestoreSettled = []string{"confirmed", "not_executed", "compared", "over"}
)

// CheckpointRow is one signed checkpoint.
type CheckpointRow struct {
	Number, Size int64
	Root         string // hexadecimal
	At           time.Time
	Signer       string // name and fingerprint of the key
}

// CheckpointsView says how the history is tied to what lies outside the database.
type CheckpointsView struct {
	Rows    []CheckpointRow // the newest first; none = there are chains only
	Waiting bool            // entries came after the newest
	Missing int64           // entries that a checkpoint holds and the history lacks
}

// RestoreNote leads to what a restored database leaves to reconcile.
type RestoreNote struct {
	Open int // operations that are not reconciled
	All  int
}

// RestoreRow is one operation that is to be compared with its destination.
type RestoreRow struct {
	ID                operation.ID
	URL, Title        string
	Flow, Destination string
	Was, State        operation.State
	InDoubt           bool   // to be compared alone
	Lookup            string // result of a lookup since; "" = none yet
	LookedUp          time.Time
	Settled           string // "" = open, confirmed, not_executed, compared
	Who               Who
	SettledAt         time.Time
	Reason            string
	Selected          bool
}

// RestoreBatchRow is one batch that is to be compared with its destination.
type RestoreBatchRow struct {
	ID                 operation.BatchID
	URL, Title         string
	Flow, Destination  string
	Was, State         operation.BatchState
	Included, Released int    // rows that are to go out, and those that are operations here
	Settled            string // "" = open, over, compared
	Who                Who
	SettledAt          time.Time
	Reason             string
	Selected           bool
}

// RestorePlace is a destination with operations that are open.
type RestorePlace struct {
	Name          string
	Open, InDoubt int
}

// RestoreSource is a source whose events of the lost time are to be sent again.
type RestoreSource struct {
	Name    string
	Newest  time.Time // zero = it never sent anything
	SentNew int
}

// RestoreModel is the reconciling of a restored database.
type RestoreModel struct {
	Frame
	// Found is false when no database was ever found restored.
	Found            bool
	Why              string // one of RestoreReasons
	Since, Until, At time.Time
	Missing          *int64
	Ended            *RestoreEnd // nil = it goes on
	All, Open        int
	Unmarked         int // a worker has not come to them
	Confirmed        int
	Compared         int
	Sources          []RestoreSource
	Places           []RestorePlace
	Rows             []RestoreRow
	OpenOnly         bool
	Pager            Pager
	Batches          []RestoreBatchRow
	// Compare marks chosen rows, CompareAll a whole destination, CompareBatches chosen batches.
	Compare, CompareAll, CompareBatches *ReasonForm
}

// RestoreEnd says who let the sends go on.
type RestoreEnd struct {
	Who    Who
	At     time.Time
	Reason string
}

// Done is how many operations are reconciled.
func (m RestoreModel) Done() int { return m.All - m.Open }
