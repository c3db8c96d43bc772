# The JavaScript client: its types are those of the API's file and of its own code, and it
# does against a real server what it promises. WRITE=1 build/peers.sh client-js writes the types.
node_modules client-js || skipped "openapi-typescript cannot be installed here"
tools=$cache/client-js/node_modules
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp clients/js/*.js clients/js/*.json "$work/"
mkdir "$work/types"
"$tools/.bin/openapi-typescript" handlers/api/openapi.yaml -o "$work/types/api.d.ts" >/dev/null
"$tools/.bin/tsc" -p "$work" --typeRoots "$tools/@types"
if [ -n "${WRITE:-}" ]; then cp "$work"/types/* clients/js/types/; fi
if ! diff -r "$work/types" clients/js/types; then
  echo "The types of clients/js are not up to date: WRITE=1 build/peers.sh client-js" >&2
  exit 1
fi
peer_test ./jobs/peers/graphs -run JavaScriptClient
