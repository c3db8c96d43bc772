// Package handlers holds Holdpoint's pages: it reads what a person sent, calls one
// verb of the store, and shows what the store has. routes.go is the whole table of
// addresses; each file beside it is named after its noun, as in views and store.
//
// It may import web, views, store, operation and connector/outbound of ours. What may
// be done is decided in operation and in the store's transactions; pages only show it.
package handlers
