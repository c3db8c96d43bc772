package main

import (
	"context"
	"strings"

	"holdpoint/cmd/holdpoint/drill"
	"holdpoint/operation"
)

// rehearse runs an acceptance in a process of its own.
func rehearse(ctx context.Context, plan operation.AcceptancePlan, ended func(operation.AcceptanceCase)) (operation.AcceptanceSheet, error) {
	return drill.AcceptInChild(ctx, drill.Options{}, plan, ended)
}

// programName is how a sheet names the program that ran it.
func programName() string {
	version, revision := build()
	return strings.TrimSpace(version + " " + revision)
}
