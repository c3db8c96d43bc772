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
# vet runs over everything in build/lint.sh. The pipe's status is go test's or, when that
# is 0, the summary's.
bin/pgctl run -- go test -json -vet=off -timeout 30m "$@" "${packages[@]}" | bin/testsum

# The examples with modules of their own, when everything is tested.
if [[ -z "${PKG:-}" ]]; then
  command -v temporal >/dev/null || echo 'TEMPORAL SKIPPED: no "temporal" on the PATH; the example is tested with the SDK alone' >&2
  (cd docs/examples/temporal && ../../../bin/pgctl run -- go test -timeout 10m "$@" ./...)
fi
