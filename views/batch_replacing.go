package views

// BatchReplacing are the open replacements of a batch's items.
type BatchReplacing struct {
	Open []Link
	More bool // there are more of them
}
