package operation

// BatchID names one batch, a fanned-out stage of one run: "bat_…".
type BatchID string
