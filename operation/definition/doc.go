// Package definition reads the files that people write: flows, destination profiles
// and sources. It checks them, renders the exact request that an approval covers,
// classifies a destination's answers, and says in words what a profile means.
//
// It is pure: no clock, no environment, no network, no database. The time and the
// look-up of environment variables are parameters.
//
// It may import operation, the standard library, cel.dev/cel-go (expressions),
// github.com/goccy/go-yaml (syntax) and github.com/santhosh-tekuri/jsonschema/v6.
package definition
