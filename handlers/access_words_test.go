package handlers_test

import (
	"slices"
	"testing"

	"holdpoint/store"
	"holdpoint/views"
)

// TestWordsOfAccess holds the words that the pages know to those of the store.
func TestWordsOfAccess(t *testing.T) {
	t.Parallel()
	var kinds []string
	for _, k := range store.SignInKinds {
		kinds = append(kinds, string(k))
	}
	if !slices.Equal(kinds, views.SignInWays) {
		t.Errorf("the store signs in by %v, the pages say %v", kinds, views.SignInWays)
	}
	var scopes []string
	for _, o := range views.ScopeOptions(nil) {
		scopes = append(scopes, o.Value)
	}
	if !slices.Equal(scopes, store.Scopes) {
		t.Errorf("the store has scopes %v, the pages say %v", store.Scopes, scopes)
	}
}
