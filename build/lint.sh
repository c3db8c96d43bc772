#!/usr/bin/env bash
# Checks without changing anything: formatting, vet, staticcheck, scripts.
set -euo pipefail
cd "$(dirname "$0")/.."
build/setup.sh go
bad=0

unformatted=$(git ls-files -z --cached --others --exclude-standard -- '*.go' | xargs -0 -r ls -d 2>/dev/null | xargs -r gofmt -l)
if [ -n "$unformatted" ]; then
  printf 'Not formatted (run gofmt -w on them):\n%s\n' "$unformatted" >&2
  bad=1
fi

# `templ fmt -fail` would rewrite the files; reading from standard input does not.
mapfile -t templates < <(git ls-files --cached --others --exclude-standard -- '*.templ')
if [ ${#templates[@]} -gt 0 ]; then
  go build -o bin/templ github.com/a-h/templ/cmd/templ
  for file in "${templates[@]}"; do
    [ -e "$file" ] || continue
    if ! bin/templ fmt -log-level error <"$file" | cmp -s - "$file"; then
      echo "Not formatted (run go tool templ fmt $file): $file" >&2
      bad=1
    fi
  done
fi

for script in build/*.sh .ci/run; do
  bash -n "$script" || bad=1
done
go vet ./... || bad=1
go tool staticcheck ./... || bad=1
[ $bad = 0 ] && echo "lint: no findings"
exit $bad
