package store_test

import (
	"errors"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, url string, secret []byte) error {
		t.Helper()
		s, err := store.Open(t.Context(), store.Config{URL: url, Secret: secret})
		if err == nil {
			s.Close()
		}
		return err
	}
	t.Run("RefusesAnOlderSchema", func(t *testing.T) {
		t.Parallel()
		f := storetest.NewClosedFixture(t)
		_, err := f.Owner.Exec(`DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`)
		ok(t, err)
		err = open(t, f.AppURL, storetest.Secret)
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "holdpoint migrate") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("RefusesANewerSchema", func(t *testing.T) {
		t.Parallel()
		f := storetest.NewClosedFixture(t)
		_, err := f.Owner.Exec(`INSERT INTO goose_db_version (version_id, is_applied) SELECT max(version_id) + 1, true FROM goose_db_version`)
		ok(t, err)
		err = open(t, f.AppURL, storetest.Secret)
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("RefusesAnEmptyDatabase", func(t *testing.T) {
		t.Parallel()
		f := storetest.NewClosedFixture(t)
		_, err := f.Owner.Exec(`DROP TABLE goose_db_version`)
		ok(t, err)
		err = open(t, f.AppURL, storetest.Secret)
		if !errors.Is(err, store.ErrSchema) || !strings.Contains(err.Error(), "holdpoint migrate") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("RefusesAnotherInstallationsKey", func(t *testing.T) {
		t.Parallel()
		f := storetest.NewClosedFixture(t)
		err := open(t, f.AppURL, []byte("another secret of at least 32 bytes in length"))
		if err == nil || !strings.Contains(err.Error(), "key file") {
			t.Errorf("err = %v", err)
		}
		ok(t, open(t, f.AppURL, storetest.Secret))
	})
	t.Run("RefusesAShortKey", func(t *testing.T) {
		t.Parallel()
		f := storetest.NewClosedFixture(t)
		if err := open(t, f.AppURL, []byte("short")); err == nil {
			t.Error("a secret of five bytes was accepted")
		}
	})
	t.Run("GivesTheSameIntentTheSameIDUnderTheSameKey", func(t *testing.T) {
		t.Parallel()
		one, two := storetest.NewFixture(t), storetest.NewFixture(t)
		in := storetest.CouponEvent()
		if a, b := one.Receive(t, in)[0], two.Receive(t, in)[0]; a != b {
			t.Errorf("%s and %s", a, b)
		}
	})
}

// TestMigrateAgain: migrating a database that has the current schema, with data in it,
// changes nothing.
func TestMigrateAgain(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Ready(t)
	ok(t, store.Migrate(t.Context(), f.OwnerURL, "holdpoint_app"))
	if f.State(t, id) != operation.Ready {
		t.Error("the data changed")
	}
	_, err := f.Store.Claim(t.Context(), worker, id, "w")
	ok(t, err)
}
