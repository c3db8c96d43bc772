// Package callback is where destinations tell later what became of an effect:
// POST /cb/{destination}, entered by the signature that the destination's profile names.
// Each entry of a callback is judged by itself and written before the sender is answered;
// what its operation is may become known later.
//
// It may import store, operation, operation/definition, operation/signature,
// connector/outbound and handlers/intake.
package callback
