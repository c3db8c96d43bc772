package jobs

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// wrapped is a connector that calls before and after an attempt.
type wrapped struct {
	connector.Connector
	before func(connector.Order)
	after  func(connector.Order, operation.Result)
}

func (c wrapped) Act(ctx context.Context, o connector.Order) operation.Result {
	if c.before != nil {
		c.before(o)
	}
	r := c.Connector.Act(ctx, o)
	if c.after != nil {
		c.after(o, r)
	}
	return r
}

// around makes a worker's connectors call before and after each attempt.
func around(before func(connector.Order), after func(connector.Order, operation.Result)) func(*Config) {
	return func(c *Config) {
		c.Connect = func(p *definition.Profile) (connector.Connector, error) {
			inner, err := connector.New(p, os.LookupEnv)
			return wrapped{inner, before, after}, err
		}
	}
}

// quiet logs only when the test has failed.
func quiet(t testing.TB) *slog.Logger {
	var b syncBuffer
	t.Cleanup(func() {
		if t.Failed() && b.Len() > 0 {
			t.Logf("log:\n%s", b.String())
		}
	})
	return slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
