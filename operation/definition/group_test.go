package definition

import (
	"reflect"
	"strings"
	"testing"

	"holdpoint/operation"
)

const twoGroups = "{key: compliance, title: {en: Compliance, pl: Zgodność}, approvers: {role: ops_owner}}, {key: contact, title: {en: Contact}, approvers: {role: approver}, required: 2}"

func withApproval(approval string) string {
	return strings.Replace(minimalFlow, "approval: {approvers: {role: approver}}", "approval: {"+approval+"}", 1)
}

func TestParseFlow_Groups(t *testing.T) {
	p := flow(t, withApproval("groups: ["+twoGroups+"], expires: 72h")).Stages[0].Approval
	want := []operation.Group{
		{Key: "compliance", Title: Text{"en": "Compliance", "pl": "Zgodność"}, Approvers: operation.Selector{Role: operation.RoleOpsOwner}, Required: 1},
		{Key: "contact", Title: Text{"en": "Contact"}, Approvers: operation.Selector{Role: operation.RoleApprover}, Required: 2},
	}
	if !reflect.DeepEqual(p.Groups, want) || p.Required != 3 || p.Approvers != (operation.Selector{}) || !p.SeparateAuthor {
		t.Errorf("%+v", p)
	}
}

func TestParseFlow_RefusesGroups(t *testing.T) {
	one := "{key: a, title: {en: A}, approvers: {role: approver}}"
	six := strings.Repeat(one+", ", 5) + one
	for name, c := range map[string]struct{ approval, want string }{
		"Neither":    {"required: 1", "f.yaml:17: stages[0].approval.approvers: this field is missing: say approvers, or ask"},
		"Both":       {"approvers: {role: approver}, groups: [" + twoGroups + "]", "f.yaml:17: stages[0].approval.groups: either approvers or groups, not both"},
		"Sum":        {"required: 2, groups: [" + twoGroups + "]", "f.yaml:17: stages[0].approval.required: with groups, each group says"},
		"OneGroup":   {"groups: [" + one + "]", "f.yaml:17: stages[0].approval.groups"},
		"SixGroups":  {"groups: [" + six + "]", "f.yaml:17: stages[0].approval.groups"},
		"KeyTwice":   {"groups: [" + one + ", " + one + "]", `f.yaml:17: stages[0].approval.groups[1].key: two groups have the key "a"`},
		"NoTitle":    {"groups: [" + one + ", {key: b, approvers: {role: approver}}]", "stages[0].approval.groups[1].title: this field is missing"},
		"NoRole":     {"groups: [" + one + ", {key: b, title: {en: B}}]", "stages[0].approval.groups[1].approvers: this field is missing"},
		"OneOfTwo":   {"groups: [" + one + ", {key: b, title: {en: B}, approvers: {role: approver, user: a@b.test}, required: 2}]", "stages[0].approval.groups[1].required: one named person cannot give 2"},
		"UnknownKey": {"groups: [" + one + ", {key: b, title: {en: B}, approvers: {role: approver}, expires: 1h}]", "stages[0].approval.groups[1].expires: this field is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseFlow("f.yaml", []byte(withApproval(c.approval)))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
