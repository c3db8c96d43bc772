// Package connector is where effects leave: it turns a destination's profile into a
// Connector, and limits how fast one process uses it. What an order permits is in
// connector/order, the wire in connector/outbound, the two kinds of destination in
// connector/httpapi and connector/smtp.
//
// It may import operation, operation/definition and its own folders.
package connector

import "holdpoint/connector/order"

// Order is what the dispatch answer permits: exactly these bytes, once, before the
// deadline.
type Order = order.Order

// LookupOrder asks whether the effect of an operation exists.
type LookupOrder = order.Lookup

// Connector reaches one destination.
type Connector = order.Connector

// Env gives the value of an environment variable, as os.LookupEnv does.
type Env = order.Env
