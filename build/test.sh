#!/usr/bin/env bash
# Runs the tests beside one throw-away PostgreSQL: build/test.sh [FLAG…]
# PKG chooses packages (default ./...), FLAGs go to go test.
set -euo pipefail
cd "$(dirname "$0")/.."

build/setup.sh go postgresql chromium
go build -o bin/ ./cmd/... ./store/pglocal/pgctl ./build/testsum
export HOLDPOINT_TEST_SANDBOX=$PWD/bin/sandbox
export HOLDPOINT_TEST_BINARY=$PWD/bin/holdpoint
read -ra packages <<<"${PKG:-./...}"
# The pipe's status is go test's or, when that is 0, the summary's.
bin/pgctl run -- go test -json -timeout 20m "$@" "${packages[@]}" | bin/testsum
