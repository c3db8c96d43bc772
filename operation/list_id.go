package operation

// ListID names a list that was handed in and from which a batch may be made: "lst_…".
type ListID string
