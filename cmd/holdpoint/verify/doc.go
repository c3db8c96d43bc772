// Package verify checks a history against its chains, their heads and the signed
// checkpoints, from a database or from an export, in bounded memory: what does not fit
// lies in files of a temporary folder, sorted.
package verify
