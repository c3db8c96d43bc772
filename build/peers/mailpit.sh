# Mail to people, and the profile smtp, against Mailpit: headers, both parts, refusals, a
# lost answer.
version=v1.33.1
mkdir -p "$cache/$version"
if [ ! -x "$cache/$version/mailpit" ]; then
  echo "Building Mailpit $version; the first time takes minutes."
  GOBIN=$cache/$version go install "github.com/axllent/mailpit@$version" || skipped "Mailpit cannot be built here"
fi
export HOLDPOINT_MAILPIT=$cache/$version/mailpit
peer_test ./jobs/peers
peer_test ./systems/peers -run Mailpit
