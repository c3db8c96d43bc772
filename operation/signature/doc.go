// Package signature checks that bytes which came to us are what their sender signed:
// HMAC in a header, Standard Webhooks (also under Svix's names), Stripe, HubSpot v3,
// SendGrid (ECDSA), Mailgun, Amazon SNS, and plain credentials.
//
// It is pure: the time is given, the secrets are given, nothing is fetched. Every compare
// of secrets and codes takes the same time whatever they hold. Several secrets can be
// current at once, so that one can be rotated; any of them is enough.
package signature
