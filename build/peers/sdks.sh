# What the profiles of mail and chat send, compared with what the providers' own libraries
# send, and judged by the servers that come with Mailgun's and Slack's. The libraries are a
# module of their own; its requirements follow the product's in a copy.
dir=build/peers/sdks
mkdir -p "$cache/sdks"
cp "$dir/go.mod" "$dir/go.sum" "$cache/sdks/"
(
  cd "$dir"
  go mod download -modfile="$cache/sdks/go.mod" || exit 3
) || skipped "the libraries cannot be had here"
(
  cd "$dir"
  go test -json -timeout 10m -mod=mod -modfile="$cache/sdks/go.mod" ./...
) | bin/testsum
