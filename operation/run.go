package operation

// Delivery says what became of an accepted mail.
type Delivery string

// The words of delivery. Acceptance is never shown as delivery.
const (
	DeliveryNone       Delivery = ""
	DeliveryAccepted   Delivery = "accepted"
	DeliveryDelivered  Delivery = "delivered"
	DeliveryBounced    Delivery = "bounced"
	DeliveryDropped    Delivery = "dropped" // accepted, and then not even tried
	DeliveryComplained Delivery = "complained"
)

// Need says what satisfies a stage.
type Need string

// The needs. A fan-out stage names one of the last two for its items.
const (
	NeedConfirmed      Need = "confirmed"
	NeedAccepted       Need = "accepted"  // mail: the provider took it
	NeedDelivered      Need = "delivered" // mail: it arrived
	NeedEveryClosed    Need = "every_item_closed"
	NeedEveryConfirmed Need = "every_item_confirmed"
)

// StageFacts is what decides whether a stage is satisfied.
type StageFacts struct {
	Key        string
	Need       Need
	FanOut     bool
	Expanded   bool // the items of a fan-out stage are known
	GoOn       bool // the owner's recorded "go on without it"
	Operations []StageOperation
}

// StageOperation is one operation of a stage: an original or a replacement of an item.
type StageOperation struct {
	Item     string
	State    State
	Delivery Delivery
}

// satisfies reports whether this operation alone gives what the stage needs.
func (o StageOperation) satisfies(n Need) bool {
	if o.State != Confirmed {
		return n == NeedEveryClosed && o.State.Closed()
	}
	if n == NeedDelivered {
		return o.Delivery == DeliveryDelivered || o.Delivery == DeliveryComplained
	}
	return true
}

// lost reports that this operation will not give what the stage needs by itself.
func (o StageOperation) lost(n Need) bool {
	return o.State.Closed() && !o.satisfies(n) &&
		(o.State != Confirmed || o.Delivery == DeliveryBounced || o.Delivery == DeliveryDropped)
}

// items groups the operations by item, originals and replacements together.
func (s StageFacts) items() map[string][]StageOperation {
	m := map[string][]StageOperation{}
	for _, o := range s.Operations {
		m[o.Item] = append(m[o.Item], o)
	}
	return m
}

// Satisfied reports whether later stages may be sent: every item's operation, or a
// replacement of it, gives what the stage needs, or the owner decided to go on without.
// "Every item closed" waits for all replacements as well.
func Satisfied(s StageFacts) bool {
	if s.GoOn {
		return true
	}
	if len(s.Operations) == 0 {
		return s.FanOut && s.Expanded
	}
	if s.FanOut && !s.Expanded {
		return false
	}
	for _, ops := range s.items() {
		good := 0
		for _, o := range ops {
			if o.satisfies(s.Need) {
				good++
			}
		}
		if good == 0 || (s.Need == NeedEveryClosed && good < len(ops)) {
			return false
		}
	}
	return true
}

// Blocked reports that a stage cannot be satisfied without its owner's decision: all
// operations of some item are closed without what the stage needs.
func Blocked(s StageFacts) bool {
	if Satisfied(s) {
		return false
	}
	for _, ops := range s.items() {
		lost := 0
		for _, o := range ops {
			if o.lost(s.Need) {
				lost++
			}
		}
		if lost == len(ops) {
			return true
		}
	}
	return false
}

// RunStateOf gives the state of a run from its stages in order. stopped is the recorded
// decision to stop it.
func RunStateOf(stages []StageFacts, stopped bool) RunState {
	if stopped {
		return RunStopped
	}
	state := RunCompleted
	for _, s := range stages {
		if Blocked(s) {
			return RunBlocked
		}
		if !Satisfied(s) {
			state = RunOpen
		}
	}
	if len(stages) == 0 {
		return RunOpen
	}
	return state
}

// EarlierOpen gives Facts.EarlierOpen for the stage at index i: the keys of the stages
// before it that are not satisfied. A run resumes from the first of them.
func EarlierOpen(stages []StageFacts, i int) []string {
	var open []string
	for _, s := range stages[:min(i, len(stages))] {
		if !Satisfied(s) {
			open = append(open, s.Key)
		}
	}
	return open
}
