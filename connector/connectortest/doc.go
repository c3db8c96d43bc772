// Package connectortest is the one suite that every destination passes: servers that
// misbehave on command, and the starter of the sandbox whose ledger says what really
// happened. Other packages' tests use it too. It is for tests only.
//
// It may import operation, operation/definition, connector and its folders.
package connectortest
