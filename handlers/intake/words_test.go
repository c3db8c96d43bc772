package intake_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"holdpoint/views"
)

// refusals finds the code of each refusal in the room's files, fields where a key is
// missing. The names of fields that keys are read from stand below it.
var (
	refusals = regexp.MustCompile(`Refused\{(?:Status: )?[A-Za-z.]+, (?:Code: )?"([a-z_0-9]+)"`)
	keys     = regexp.MustCompile(`(?:KeyError\{|keyText\(|scalarKey\()"([a-z_]+)"`)
	fields   = []string{"specversion", "id", "source", "type", "time", "account", "environment", "signature", "signature_missing", "signature_time"}
)

// Each reason for which a delivery is refused or ignored has words in the catalogues. A
// starter takes no posts, and business keys and subscriptions that cannot be read are none.
func TestEveryReasonHasWords(t *testing.T) {
	t.Parallel()
	codes := slices.Clone(fields)
	for pattern, find := range map[string]*regexp.Regexp{"*.go": refusals, "../../operation/definition/notice*.go": keys} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v %v", pattern, files, err)
		}
		before := len(codes)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range find.FindAllStringSubmatch(string(raw), -1) {
				codes = append(codes, m[1])
			}
		}
		if len(codes)-before < 7 {
			t.Errorf("%s: only %v found", pattern, codes[before:])
		}
	}
	for _, code := range codes {
		if !slices.Contains([]string{"kind", "business_key", "subscription"}, code) && !slices.Contains(views.DeliveryReasons, code) {
			t.Errorf("no words for %q", code)
		}
	}
}
