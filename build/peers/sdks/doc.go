// Package sdks compares what the profiles send with what the providers' own libraries
// send, and lets the servers that come with those libraries judge our requests. It is a
// module of its own, so that the libraries are none of the product's.
package sdks
