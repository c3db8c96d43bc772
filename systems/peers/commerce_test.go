//go:build peers

package peers

import (
	"io/fs"
	"os"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/systems"
)

// shipped is a profile as it ships, for places that the tests run at.
func shipped(t *testing.T, name string) *definition.Profile {
	t.Helper()
	raw, err := fs.ReadFile(systems.Profiles(), name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := definition.ParseProfile(name+".yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	p.Local = true
	return p
}

// needed gives a variable that build/peers.sh sets.
func needed(t *testing.T, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: run build/peers.sh", name)
	}
	return v
}

// at gives every variable that a profile reads the same value.
func at(base string) connector.Env {
	return func(string) (string, bool) { return base, true }
}

const operationID = operation.ID("op_01234567890123456789012345")

// order renders and resolves an action as dispatch does.
func order(t *testing.T, p *definition.Profile, action string, content map[string]any, env connector.Env, refs map[string]string) connector.Order {
	t.Helper()
	a, err := p.Action(action)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	v, err := a.Render(content, env, now)
	if err != nil {
		t.Fatal(err)
	}
	key := operation.DestinationKey(operationID, 1)
	values := map[string]string{operation.HoleOperationID: string(operationID), operation.HoleKey: key}
	for stage, ref := range refs {
		values[operation.HoleTargetRef(stage)] = ref
	}
	req, err := v.Request.Resolve(values)
	if err != nil {
		t.Fatal(err)
	}
	return connector.Order{
		Operation: operationID, Attempt: "att_1", Fence: 1, Action: action, Request: req, Key: key, Content: content,
		DispatchedAt: now, Deadline: now.Add(time.Minute),
	}
}
