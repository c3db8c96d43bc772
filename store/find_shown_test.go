package store_test

import (
	"testing"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestFindShown reads the text of the current version alone, while nothing was sent, and
// what is decoded of it is the same as when all is read.
func TestFindShown(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	letter := f.Receive(t, storetest.CampaignEvent())[1]
	for _, text := range []string{"Dear customer", "Dear customer, yours Anna"} {
		ok(t, s.AddVersion(ctx, f.As("author"), store.NewVersion{Operation: letter, Author: store.Author{Kind: "person", ID: string(f.Users["author"])}, Submit: true,
			Content: map[string]any{"to": "c@example.test", "subject": "Spring", "text": text}}))
	}
	shown, err := s.FindShown(ctx, f.As("lead"), letter)
	ok(t, err)
	whole, err := s.FindOperation(ctx, f.As("lead"), letter)
	ok(t, err)
	if len(shown.Versions) != 3 || len(whole.Versions) != 3 {
		t.Fatalf("%d and %d versions", len(shown.Versions), len(whole.Versions))
	}
	for i, v := range shown.Versions {
		w := whole.Versions[i]
		current := v.ID == shown.VersionID
		if v.HashHex() != w.HashHex() || w.ContentText == "" || current != (v.ContentText != "") || current != (v.RequestText != "") {
			t.Errorf("version %d: %d bytes of content, %d when all is read", v.Number, len(v.ContentText), len(w.ContentText))
		}
	}
	if text := shown.Current().Content()["text"]; text != "Dear customer, yours Anna" || shown.Current().Request().Body != whole.Current().Request().Body {
		t.Errorf("the current version says %q", text)
	}
	mine := shown.Current().FreshContent()
	mine["text"] = "changed"
	if text := shown.Current().Content()["text"]; text != "Dear customer, yours Anna" {
		t.Errorf("a changed copy changes what others read: %q", text)
	}
}
