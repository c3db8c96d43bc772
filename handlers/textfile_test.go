package handlers

import (
	"testing"

	"holdpoint/operation/definition"
)

// TestEncodingName: encodings stand in the choice as people write them.
func TestEncodingName(t *testing.T) {
	want := map[string]string{"utf-8": "UTF-8", "utf-16le": "UTF-16LE", "utf-16be": "UTF-16BE", "windows-1252": "Windows-1252"}
	for _, e := range definition.Encodings {
		if got := encodingName(e); got != want[e] {
			t.Errorf("%s is called %s, want %s", e, got, want[e])
		}
	}
}
