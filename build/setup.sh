#!/usr/bin/env bash
# Installs what is missing on a Debian machine: build/setup.sh NAME…
# Names: go postgresql chromium node gcc. Says what it installs. Without root and
# without password-less sudo it prints the one command to run and exits with 2.
set -euo pipefail

present() {
  case $1 in
    go) command -v go ;;
    postgresql) command -v postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' ;;
    chromium) command -v chromium-headless-shell || command -v chromium ;;
    node) command -v node && command -v npm ;;
    gcc) command -v gcc ;;
    *) echo "setup: unknown name $1" >&2; exit 64 ;;
  esac >/dev/null
}

packages() {
  case $1 in
    postgresql) echo postgresql ;;
    chromium) echo chromium-headless-shell fonts-noto-cjk ;;
    node) echo nodejs npm ;;
    gcc) echo gcc libc6-dev ;;
  esac
}

missing=()
for name in "$@"; do
  present "$name" && continue
  if [ "$name" = go ]; then
    echo "Go is missing: install the version that go.mod names, from https://go.dev/dl/" >&2
    exit 2
  fi
  read -ra found <<<"$(packages "$name")"
  missing+=("${found[@]}")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
if ! command -v apt-get >/dev/null; then
  echo "Missing here: ${missing[*]} (Debian's package names). Install them and start again." >&2
  exit 2
fi
if [ "$(id -u)" = 0 ]; then
  as_root=(bash -c)
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n bash -c)
else
  echo "Missing: ${missing[*]}. Run this as root, then start again:" >&2
  echo "$install" >&2
  exit 2
fi
echo "Installing: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! DEBIAN_FRONTEND=noninteractive "${as_root[@]}" "export DEBIAN_FRONTEND=noninteractive; $install" >"$log" 2>&1 </dev/null; then
  tail -n 20 "$log" >&2
  echo "Installing failed. The command was:" >&2
  echo "$install" >&2
  exit 2
fi
