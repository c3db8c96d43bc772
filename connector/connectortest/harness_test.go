package connectortest

import "testing"

func TestProfilesOfTheSuiteAreWhole(t *testing.T) {
	for _, name := range Destinations {
		h := Destination(t, name)
		if h.Order(t, map[bool]string{true: "127.0.0.1:25", false: "http://127.0.0.1:80"}[h.smtp()]).Request.Body == "" {
			t.Errorf("%s: no body", name)
		}
	}
}
