#!/usr/bin/env bash
# Writes every generated file: templ components, the API's server code, and the
# pages of docs/ that are made from the source. --check compares instead, in a
# copy, and changes nothing here.
set -euo pipefail
cd "$(dirname "$0")/.."
build/setup.sh go

# templ runs inside each folder, so that its error positions name the file alone
# whether it is started from here or by hand.
generate() {
  local dir
  git ls-files -z --cached --others --exclude-standard -- '*.templ' | xargs -0 -r dirname | sort -u | while read -r dir; do
    (cd "$dir" && go tool templ generate -log-level warn) || exit 1
  done || return 1
  go generate ./...
}

if [ "${1:-}" != --check ]; then
  generate
  exit
fi

here=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null --files-from=- -cf - | tar -xf - -C "$copy"
cd "$copy"
git init -q . # so that the list of files works in the copy too
(generate) >"$copy/.generate.log" 2>&1 || { cat "$copy/.generate.log" >&2; exit 1; }
rm -rf .git .generate.log
stale=()
while IFS= read -r -d '' file; do
  file=${file#./}
  cmp -s "$file" "$here/$file" || stale+=("$file")
done < <(find . -type f -print0)
if [ ${#stale[@]} -gt 0 ]; then
  echo "Generated files are not up to date; run make generate and commit them:" >&2
  printf '  %s\n' "${stale[@]}" >&2
  exit 1
fi
echo "generate-check: all generated files are up to date"
