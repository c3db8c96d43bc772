package definition

import (
	"regexp"
	"strings"
	"testing"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocs parses every example of the documentation.
func TestDocs(t *testing.T) {
	blocks := yamlBlock.FindAllStringSubmatch(string(read(t, "../../docs/formats.md")), -1)
	kinds := map[string]int{}
	for _, b := range blocks {
		var err error
		kind, _, _ := strings.Cut(strings.TrimSpace(b[1]), ":")
		kinds[kind]++
		switch kind {
		case "flow":
			_, err = ParseFlow("formats.md", []byte(b[1]))
		case "destination":
			_, err = ParseProfile("formats.md", []byte(b[1]))
		case "source":
			_, err = ParseSource("formats.md", []byte(b[1]))
		case "callbacks": // a part of a profile, in the place of another's
			at := strings.Index(newsProfile, "callbacks:")
			_, err = ParseProfile("formats.md", []byte(newsProfile[:at]+b[1]+"\n"+newsProfile[strings.Index(newsProfile, "actions:"):]))
		case "approval": // a part of a stage, inside a list of the text
			stage := strings.ReplaceAll("\n"+b[1], "\n  ", "\n")
			_, err = ParseFlow("formats.md", []byte(strings.Replace(minimalFlow, "\n    approval: {approvers: {role: approver}}\n", stage, 1)))
		default:
			t.Errorf("an example begins with %q", kind)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if kinds["flow"] != 2 || kinds["destination"] != 2 || kinds["source"] != 1 || kinds["approval"] != 1 {
		t.Errorf("examples: %v", kinds)
	}
}
