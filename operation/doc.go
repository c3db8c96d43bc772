// Package operation holds the rules of Holdpoint: which states an operation has,
// who may decide, when an attempt is permitted, what its outcome proves, and what
// must happen next.
//
// It is pure. It reads no clock, no database and no network: every function takes
// the facts and the time ("now", always the database's clock) and returns a
// decision. Callers load facts under locks, ask this package, write the answer.
//
// It may import the standard library, golang.org/x/text (normalisation), and
// github.com/gowebpki/jcs and github.com/go-json-experiment/json/jsontext (canonical
// JSON); nothing of ours.
package operation
