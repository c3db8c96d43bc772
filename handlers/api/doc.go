// Package api is the job API: events come in, jobs of any engine ask for a permit, act
// themselves and report. openapi.yaml is the contract; the server's types are made from
// it, and every request is checked against it before a handler sees it.
//
// It may import handlers/intake, views/text, store, operation and connector/outbound.
package api

//go:generate go tool oapi-codegen -config oapi-codegen.yaml openapi.yaml
