package connectortest

import "testing"

func TestEveryDestination(t *testing.T) {
	for _, name := range Destinations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, Destination(t, name))
		})
	}
}
