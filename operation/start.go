package operation

// StartID names a table from which a person starts runs: "sta_…".
type StartID string
