#!/usr/bin/env bash
# Tests what leaves against real programs of others: mail against Mailpit, pages against
# Lighthouse. They are fetched into the user's cache and are no part of this module.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/holdpoint/peers
mailpit=v1.33.1

build/setup.sh go postgresql chromium node
mkdir -p "$cache/$mailpit"
if [ ! -x "$cache/$mailpit/mailpit" ]; then
  echo "Building Mailpit $mailpit; the first time takes minutes."
  GOBIN=$cache/$mailpit go install "github.com/axllent/mailpit@$mailpit"
fi
export HOLDPOINT_MAILPIT=$cache/$mailpit/mailpit
go build -o bin/ ./cmd/... ./store/pglocal/pgctl ./build/testsum
export HOLDPOINT_TEST_SANDBOX=$PWD/bin/sandbox
export HOLDPOINT_TEST_BINARY=$PWD/bin/holdpoint
bin/pgctl run -- go test -json -timeout 10m -tags peers ./jobs/peers | bin/testsum

mkdir -p "$cache/lighthouse"
cp build/peers/package.json build/peers/package-lock.json "$cache/lighthouse/"
npm ci --prefix "$cache/lighthouse" --ignore-scripts --no-audit --no-fund --silent
export HOLDPOINT_LIGHTHOUSE=$cache/lighthouse/node_modules/lighthouse/cli/index.js
bin/pgctl run -- go test -json -timeout 10m -tags peers -run Lighthouse ./handlers | bin/testsum
