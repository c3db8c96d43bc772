#!/usr/bin/env bash
# Tests Holdpoint against real programs of others. Each peer is a script build/peers/NAME.sh:
# it fetches its program into the user's cache and runs the tests that need it. Nothing
# fetched is part of this module. `build/peers.sh NAME…` runs some of them.
#
# A script may use $cache (a folder that stays), `peer_test PACKAGE [go test flags]` and
# `skipped WHY`, which says loudly that a peer cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."

export cache=${XDG_CACHE_HOME:-$HOME/.cache}/holdpoint/peers
mkdir -p "$cache"

build/setup.sh go postgresql chromium node
go build -o bin/ ./cmd/... ./store/pglocal/pgctl ./build/testsum
export HOLDPOINT_TEST_SANDBOX=$PWD/bin/sandbox
export HOLDPOINT_TEST_BINARY=$PWD/bin/holdpoint
CHROME_PATH=$(command -v chromium-headless-shell || command -v chromium)
export CHROME_PATH # for Lighthouse

# peer_test runs the tests with the build tag `peers` of a package beside a PostgreSQL.
peer_test() {
  local package=$1
  shift
  bin/pgctl run -- go test -json -timeout 15m -tags peers "$@" "$package" | bin/testsum
}
# skipped says that a peer is not here, and why. It ends the script, not the run.
skipped() {
  echo "PEER SKIPPED: ${peer:-?}: $*" >&2
  exit 0
}
# node_modules NAME installs build/peers/NAME/package-lock.json into the cache.
node_modules() {
  mkdir -p "$cache/$1"
  cp "build/peers/$1/package.json" "build/peers/$1/package-lock.json" "$cache/$1/"
  npm ci --prefix "$cache/$1" --ignore-scripts --no-audit --no-fund --silent
}
export -f peer_test skipped node_modules

if [ $# -eq 0 ]; then
  for script in build/peers/*.sh; do set -- "$@" "$(basename "$script" .sh)"; done
fi
for peer in "$@"; do
  export peer
  start=$SECONDS
  echo "== peer $peer"
  bash -euo pipefail "build/peers/$peer.sh" </dev/null
  echo "== peer $peer: $((SECONDS - start)) s"
done
