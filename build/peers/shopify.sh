# The Shopify profile's GraphQL against the Admin schema that Shopify publishes in its
# developer tools: documents and variables, checked by the reference implementation.
tools=1.16.0
api=2026-10
schema=$cache/shopify-dev-mcp-$tools/admin_$api.json.gz
node_modules shopify || skipped "the graphql package cannot be installed here"
if [ ! -f "$schema" ]; then
  mkdir -p "$cache/shopify-dev-mcp-$tools"
  (
    cd "$cache/shopify-dev-mcp-$tools"
    npm pack --silent "@shopify/dev-mcp@$tools" >/dev/null
    tar -xzf "shopify-dev-mcp-$tools.tgz" "package/dist/data/admin_$api.json.gz"
    mv "package/dist/data/admin_$api.json.gz" "$schema"
    rm -rf package "shopify-dev-mcp-$tools.tgz"
  ) || skipped "Shopify's schema cannot be fetched here"
fi
export HOLDPOINT_SHOPIFY_SCHEMA=$schema
export PEER_MODULES=$cache/shopify
go test -json -timeout 5m -tags peers -run Shopify ./systems/peers | bin/testsum
