// Package peers tests the profiles against programs and schemas of others. The tests have
// the build tag `peers`; build/peers.sh fetches what they need and runs them.
package peers
