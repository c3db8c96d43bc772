package store_test

import (
	"bytes"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/pquerna/otp/totp"
)

// code is what the authenticator app with this seed shows, some steps from now.
func code(t *testing.T, seed string, steps int) string {
	t.Helper()
	c, err := totp.GenerateCode(seed, time.Now().Add(time.Duration(steps)*store.TOTPPeriod))
	ok(t, err)
	return c
}

// enrol sets an authenticator app up for one of the people, by the code of the step before.
func enrol(t *testing.T, f *storetest.Fixture, short string) (seed string, recovery []string) {
	t.Helper()
	ok(t, f.Store.StartTOTP(t.Context(), f.As(short)))
	seed, err := f.Store.FindTOTPStart(t.Context(), f.Users[short])
	ok(t, err)
	recovery, err = f.Store.ConfirmTOTP(t.Context(), f.As(short), code(t, seed, -1), "192.0.2.1")
	ok(t, err)
	return seed, recovery
}

func TestTOTP(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, id := t.Context(), f.Users["lead"]
	if _, err := f.Store.ConfirmTOTP(ctx, f.As("lead"), "123456", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("confirmed what was not begun: %v", err)
	}
	ok(t, f.Store.StartTOTP(ctx, f.As("lead")))
	first, err := f.Store.FindTOTPStart(ctx, id)
	ok(t, err)
	if u, _ := f.Store.FindUser(ctx, id); u.HasFactor {
		t.Error("a factor that is being set up counts already")
	}
	ok(t, f.Store.StartTOTP(ctx, f.As("lead")))
	if _, err := f.Store.ConfirmTOTP(ctx, f.As("lead"), code(t, first, 0), ""); !errors.Is(err, store.ErrBadCode) {
		t.Errorf("a seed that was replaced is taken: %v", err)
	}
	seed, recovery := enrol(t, f, "lead")
	if len(recovery) != store.RecoveryCodes {
		t.Errorf("%d recovery codes", len(recovery))
	}
	if u, _ := f.Store.FindUser(ctx, id); !u.HasFactor {
		t.Error("the factor does not count")
	}
	if _, err := f.Store.FindTOTPStart(ctx, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the seed in use is shown: %v", err)
	}
	invalidAs(t, f.Store.StartTOTP(ctx, f.As("lead")), "totp_exists")

	c := code(t, seed, 0)
	how, err := f.Store.VerifyCode(ctx, id, c[:3]+" "+c[3:], "192.0.2.1")
	ok(t, err)
	if how != store.ByCode {
		t.Errorf("how = %s", how)
	}
	for name, bad := range map[string]string{"the same again": c, "one from before it": code(t, seed, -1), "too far ahead": code(t, seed, 3), "letters": "abcdef", "nothing": ""} {
		if _, err := f.Store.VerifyCode(ctx, id, bad, "198.51.100.7"); !errors.Is(err, store.ErrBadCode) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.Store.VerifyCode(ctx, f.Users["ops"], code(t, seed, 1), ""); !errors.Is(err, store.ErrBadCode) {
		t.Errorf("somebody else's code: %v", err)
	}
}

// TestTOTPOnce lets many sign-ins race with one code: one gets in.
func TestTOTPOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	seed, recovery := enrol(t, f, "lead")
	for name, c := range map[string]string{"code": code(t, seed, 0), "recovery": recovery[0]} {
		var wg sync.WaitGroup
		var mu sync.Mutex
		in, other := 0, []error{}
		for i := range 4 {
			wg.Go(func() {
				_, err := f.Store.VerifyCode(t.Context(), f.Users["lead"], c, fmt.Sprintf("192.0.2.%d", i))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					in++
				} else if limited := (*store.LoginLimited)(nil); !errors.Is(err, store.ErrBadCode) && !errors.As(err, &limited) {
					other = append(other, err)
				}
			})
		}
		wg.Wait()
		if in != 1 || len(other) > 0 {
			t.Errorf("%s: %d sign-ins by one code; %v", name, in, other)
		}
	}
}

func TestCodesAreLimited(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	seed, _ := enrol(t, f, "lead")
	var limited *store.LoginLimited
	for i := range 8 {
		_, err := f.Store.VerifyCode(t.Context(), f.Users["lead"], "000000", "192.0.2.1")
		if errors.As(err, &limited) {
			break
		}
		if !errors.Is(err, store.ErrBadCode) {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	if limited == nil {
		t.Fatal("guessing goes on without end")
	}
	again := f.Open(t, f.AppURL) // counted in the database, for every process
	if _, err := again.VerifyCode(t.Context(), f.Users["lead"], code(t, seed, 0), "192.0.2.1"); !errors.As(err, &limited) {
		t.Errorf("a right code during the wait: %v", err)
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, id := t.Context(), f.Users["lead"]
	if _, err := f.Store.NewRecoveryCodes(ctx, f.As("lead")); err == nil {
		t.Error("codes without a factor")
	}
	_, old := enrol(t, f, "lead")
	how, err := f.Store.VerifyCode(ctx, id, strings.ToUpper(strings.ReplaceAll(old[3], "-", " ")), "")
	ok(t, err)
	if how != store.ByRecovery {
		t.Errorf("how = %s", how)
	}
	if _, err := f.Store.VerifyCode(ctx, id, old[3], ""); !errors.Is(err, store.ErrBadCode) {
		t.Errorf("a used code: %v", err)
	}
	if x, _ := f.Store.FindFactors(ctx, id); x.Recovery != store.RecoveryCodes-1 {
		t.Errorf("%d codes are left", x.Recovery)
	}
	codes, err := f.Store.NewRecoveryCodes(ctx, f.As("lead"))
	ok(t, err)
	if _, err := f.Store.VerifyCode(ctx, id, old[4], ""); !errors.Is(err, store.ErrBadCode) {
		t.Errorf("a code from before: %v", err)
	}
	for list, want := range map[*[]string]bool{&codes: true, &old: false, {}: false} {
		is, err := f.Store.AreRecoveryCodes(ctx, id, *list)
		ok(t, err)
		if is != want {
			t.Errorf("are codes: %v, want %v", is, want)
		}
	}
	ok(t, f.Store.RemoveTOTP(ctx, f.As("lead")))
	if n := f.Count(t, "recovery_codes"); n != 0 {
		t.Errorf("%d codes outlive the factor", n)
	}
	if n := f.Count(t, "history WHERE subject_id = $1 AND action IN ('add_totp', 'use_recovery_code', 'new_recovery_codes', 'remove_totp')", string(id)); n != 4 {
		t.Errorf("%d entries, want 4", n)
	}
}

// TestSeedsAreSealed looks for a seed and a recovery code in everything that a backup
// holds, and moves a seed to another person.
func TestSeedsAreSealed(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	seed, recovery := enrol(t, f, "lead")
	raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(seed)
	ok(t, err)
	var dump []byte
	ok(t, f.Owner.QueryRow(`SELECT convert_to(string_agg(x, ''), 'UTF8') FROM (SELECT t::text AS x FROM totp_factors t UNION ALL SELECT r::text FROM recovery_codes r
		UNION ALL SELECT h::text FROM history h UNION ALL SELECT s::text FROM sessions s) y`).Scan(&dump))
	for name, secret := range map[string]string{"seed": seed, "seed in hex": fmt.Sprintf("%x", raw), "recovery code": recovery[0], "recovery code's letters": strings.ToUpper(strings.ReplaceAll(recovery[0], "-", ""))} {
		if bytes.Contains(dump, []byte(secret)) {
			t.Errorf("the database holds the %s in clear", name)
		}
	}
	_, err = f.Owner.Exec(`INSERT INTO totp_factors SELECT $1, sealed, last_step, confirmed_at, created_at FROM totp_factors`, string(f.Users["ops"]))
	ok(t, err)
	if _, err := f.Store.VerifyCode(t.Context(), f.Users["ops"], code(t, seed, 0), ""); err == nil || errors.Is(err, store.ErrBadCode) || strings.Contains(err.Error(), seed) {
		t.Errorf("a seed that was moved to somebody else: %v", err)
	}
}

func TestFactorPolicyAndReset(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, admin := t.Context(), f.As("admin")
	refusedAs(t, f.Store.SetFactorRoles(ctx, f.As("lead"), []operation.Role{operation.RoleApprover}, "x"), operation.CodeNotEntitled)
	ok(t, f.Store.SetFactorRoles(ctx, admin, []operation.Role{operation.RoleApprover, operation.RoleAdmin}, "advice of the auditor"))
	roles, err := f.Store.FactorRoles(ctx)
	ok(t, err)
	if fmt.Sprint(roles) != "[approver admin]" {
		t.Errorf("roles = %v", roles)
	}
	for short, want := range map[string]bool{"lead": true, "admin": true, "author": false} {
		if u, _ := f.Store.FindUser(ctx, f.Users[short]); u.NeedsFactor != want {
			t.Errorf("%s needs a factor: %v", short, u.NeedsFactor)
		}
	}
	enrol(t, f, "lead")
	_, err = f.Store.AddPasskey(ctx, f.As("lead"), store.Passkey{CredentialID: []byte{1, 2}, Name: "Phone", Credential: "{}"})
	ok(t, err)
	ok(t, f.Store.SaveSession(ctx, store.Session{TokenHash: bytes.Repeat([]byte{7}, 32), UserID: f.Users["lead"], Data: []byte("{}"), Expires: time.Now().Add(time.Hour)}))
	ok(t, f.Store.SaveSession(ctx, store.Session{TokenHash: bytes.Repeat([]byte{8}, 32), Pending: f.Users["lead"], Data: []byte("{}"), Expires: time.Now().Add(time.Hour)}))
	refusedAs(t, f.Store.ResetFactors(ctx, f.As("ops"), f.Users["lead"], "x"), operation.CodeNotEntitled)
	invalidAs(t, f.Store.ResetFactors(ctx, admin, f.Users["admin"], "x"), "own_access")
	ok(t, f.Store.ResetFactors(ctx, admin, f.Users["lead"], "lost phone"))
	if x, _ := f.Store.FindFactors(ctx, f.Users["lead"]); x.Any() || x.Recovery != 0 {
		t.Errorf("after the reset: %+v", x)
	}
	for _, b := range []byte{7, 8} {
		if _, err := f.Store.LoadSession(ctx, bytes.Repeat([]byte{b}, 32)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("session %d outlives the reset: %v", b, err)
		}
	}
	if n := f.Count(t, "history WHERE action = 'reset_factors' AND subject_id = $1 AND reason = 'lost phone'", string(f.Users["lead"])); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// TestPendingSession: whoever owes the second factor is nobody yet, and a session never
// turns from one into the other.
func TestPendingSession(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	x := store.Session{TokenHash: bytes.Repeat([]byte{9}, 32), Pending: f.Users["lead"], Data: []byte("{}"), Expires: time.Now().Add(time.Hour)}
	ok(t, f.Store.SaveSession(ctx, x))
	got, err := f.Store.LoadSession(ctx, x.TokenHash)
	ok(t, err)
	if got.UserID != "" || got.Pending != f.Users["lead"] || !got.AuthenticatedAt.IsZero() {
		t.Errorf("session %+v", got)
	}
	y := x
	y.UserID, y.Pending = f.Users["lead"], ""
	if err := f.Store.SaveSession(ctx, y); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it became a signed-in one in place: %v", err)
	}
	ok(t, f.Store.DisableUser(ctx, f.As("admin"), f.Users["lead"], "left"))
	if _, err := f.Store.LoadSession(ctx, x.TokenHash); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it outlives its person's account: %v", err)
	}
}

func TestPasskeys(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, lead := t.Context(), f.As("lead")
	k := store.Passkey{CredentialID: []byte{1, 2, 3}, Name: " Phone\n", Credential: `{"n":0}`}
	id, err := f.Store.AddPasskey(ctx, lead, k)
	ok(t, err)
	_, err = f.Store.AddPasskey(ctx, f.As("ops"), k)
	invalidAs(t, err, "passkey_known")
	for name, code := range map[string]string{"": "name_missing", strings.Repeat("漢", store.MaxPasskeyName+1): "passkey_name_long"} {
		invalidAs(t, f.Store.RenamePasskey(ctx, lead, id, name), code)
	}
	ok(t, f.Store.RenamePasskey(ctx, lead, id, strings.Repeat("漢", store.MaxPasskeyName)))
	ok(t, f.Store.RenamePasskey(ctx, lead, id, "Phone"))
	for _, err := range []error{f.Store.RenamePasskey(ctx, f.As("ops"), id, "Mine"), f.Store.RemovePasskey(ctx, f.As("ops"), id)} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("somebody else's passkey: %v", err)
		}
	}
	_, list, err := f.Store.FindPasskeys(ctx, f.Users["lead"])
	ok(t, err)
	if len(list) != 1 || list[0].Name != "Phone" || list[0].UsedAt != nil {
		t.Fatalf("passkeys %+v", list)
	}
	ok(t, f.Store.UsePasskey(ctx, list[0], `{"n":1}`, false))
	if err := f.Store.UsePasskey(ctx, list[0], `{"n":1}`, false); !errors.Is(err, store.ErrBadCode) {
		t.Errorf("an answer to the record of before: %v", err)
	}
	if err := f.Store.UsePasskey(ctx, list[0], `{"n":1}`, true); !errors.Is(err, store.ErrBadCode) {
		t.Errorf("a counter that went back: %v", err)
	}
	_, list, err = f.Store.FindPasskeys(ctx, f.Users["lead"])
	ok(t, err)
	if list[0].ClonedAt == nil || list[0].UsedAt == nil || list[0].Credential != `{"n":1}` {
		t.Errorf("passkey %+v", list[0])
	}
	if n := f.Count(t, "history WHERE action = 'passkey_cloned' AND subject_id = $1", string(f.Users["lead"])); n != 1 {
		t.Errorf("%d entries of the suspicion", n)
	}
	ok(t, f.Store.RemovePasskey(ctx, lead, id))
	if u, _ := f.Store.FindUser(ctx, f.Users["lead"]); u.HasFactor {
		t.Error("a removed passkey counts")
	}
	ok(t, f.Store.DisableUser(ctx, f.As("admin"), f.Users["lead"], "left"))
	if _, _, err := f.Store.FindPasskeys(ctx, f.Users["lead"]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a disabled person's passkeys: %v", err)
	}
}

func TestChallenges(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, hash := t.Context(), bytes.Repeat([]byte{5}, 32)
	ok(t, f.Store.SaveSession(ctx, store.Session{TokenHash: hash, Data: []byte("{}"), Expires: time.Now().Add(time.Hour)}))
	ok(t, f.Store.PutChallenge(ctx, hash, "passkey", []byte("old"), time.Minute))
	ok(t, f.Store.PutChallenge(ctx, hash, "passkey", []byte("new"), time.Minute))
	got, err := f.Store.TakeChallenge(ctx, hash, "passkey")
	ok(t, err)
	if string(got) != "new" {
		t.Errorf("challenge %q", got)
	}
	ok(t, f.Store.PutChallenge(ctx, hash, "provider", []byte("late"), -time.Second))
	for kind, why := range map[string]string{"passkey": "taken", "provider": "too old", "passkey_add": "never asked"} {
		if got, err := f.Store.TakeChallenge(ctx, hash, kind); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %q, %v", why, got, err)
		}
	}
}
