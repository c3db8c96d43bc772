// Package checkpoint ties the whole history into a Merkle tree and speaks about it in
// signed notes. It is pure: no clock, no database, no files. docs/history-format.md fixes
// every form in it.
//
// The log is the list of all history entries in the order in which checkpoints took them
// up. A leaf is the hash of one entry. A checkpoint says how many entries there are and
// what the root of their tree is; later checkpoints contain all earlier ones.
package checkpoint
