# The Stripe profile against stripe-mock: it checks every parameter against Stripe's own
# OpenAPI file. It keeps no state, so it knows no replay and no conflict.
version=v0.203.0
mkdir -p "$cache/stripe-mock-$version"
if [ ! -x "$cache/stripe-mock-$version/stripe-mock" ]; then
  GOBIN=$cache/stripe-mock-$version go install "github.com/stripe/stripe-mock@$version" || skipped "stripe-mock cannot be built here"
fi
export HOLDPOINT_STRIPE_MOCK=$cache/stripe-mock-$version/stripe-mock
go test -json -timeout 5m -tags peers -run Stripe ./systems/peers | bin/testsum
