package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

// changed lists the operations of news, sorted.
func changed(n store.News) (ids []string) {
	for _, c := range n.Changes {
		if c.Operation != "" {
			ids = append(ids, string(c.Operation))
		}
	}
	slices.Sort(ids)
	return ids
}

func sorted(ids []operation.ID) (out []string) {
	for _, id := range ids {
		out = append(out, string(id))
	}
	slices.Sort(out)
	return out
}

func TestFollower(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	earlier := f.Receive(t, storetest.CampaignEvent())
	follow, err := s.Follow(ctx)
	ok(t, err)
	n, err := follow.Next(ctx)
	ok(t, err)
	if !n.Empty() {
		t.Errorf("news of what was there before: %+v", n)
	}
	begin := n.Mark

	t.Run("TellsOperationsThatCameToBe", func(t *testing.T) {
		ids := f.Receive(t, storetest.CampaignEvent())
		n, err := follow.Next(ctx)
		ok(t, err)
		if got := changed(n); !slices.Equal(got, sorted(ids)) || n.All || n.Access {
			t.Errorf("told %v (all %v), want %v", got, n.All, ids)
		}
		for _, c := range n.Changes {
			if c.Operation != "" && (!c.New || c.Revision < 1 || c.Run == "") {
				t.Errorf("change %+v", c)
			}
		}
		if again, err := follow.Next(ctx); err != nil || !again.Empty() {
			t.Errorf("told twice: %+v %v", again, err)
		}
	})
	t.Run("TellsADecisionWithItsRevision", func(t *testing.T) {
		d := f.Decision(t, earlier[0], operation.Approve)
		ok(t, s.Decide(ctx, f.As("lead"), d))
		n, err := follow.Next(ctx)
		ok(t, err)
		i := slices.IndexFunc(n.Changes, func(c store.Change) bool { return c.Operation == earlier[0] })
		if i < 0 || !n.Changes[i].Inbox || n.Changes[i].New || n.Changes[i].Revision <= d.Revision {
			t.Errorf("told %+v", n)
		}
	})
	t.Run("TellsOfAccessAndPauses", func(t *testing.T) {
		ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["author2"], "left"))
		if n, err := follow.Next(ctx); err != nil || !n.Access || len(n.Changes) > 0 {
			t.Errorf("told %+v %v", n, err)
		}
		_, err := s.PauseAll(ctx, f.As("admin"), "stop")
		ok(t, err)
		if n, err := follow.Next(ctx); err != nil || !n.All {
			t.Errorf("told %+v %v", n, err)
		}
		ok(t, s.ResumeAll(ctx, f.As("admin"), "go on"))
		_, err = follow.Next(ctx)
		ok(t, err)
	})
	t.Run("AnyProcessGoesOnFromAMark", func(t *testing.T) {
		other := f.Open(t, f.AppURL)
		n, err := other.NewsAfter(ctx, begin)
		ok(t, err)
		if got := changed(n); len(got) < 2 || !slices.Contains(got, string(earlier[0])) {
			t.Errorf("after %s: %v", begin, got)
		}
		for _, bad := range []string{"x", "-1", "999999999"} {
			if n, err := other.NewsAfter(ctx, bad); err != nil || !n.All {
				t.Errorf("mark %q: %+v %v", bad, n, err)
			}
		}
	})
	t.Run("TellsWhatChangedSinceAPageWasMade", func(t *testing.T) {
		n, err := s.NewsSince(ctx, time.Now())
		ok(t, err)
		if got := changed(n); !slices.Contains(got, string(earlier[0])) && !n.All {
			t.Errorf("the last seconds: %v", got)
		}
		n, err = s.NewsSince(ctx, time.Now().Add(time.Hour))
		ok(t, err)
		if !n.Empty() {
			t.Errorf("of the future: %+v", n)
		}
	})
	t.Run("ManyAreToldAsAll", func(t *testing.T) {
		_, err := f.Owner.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
			SELECT 'user', 'usr_many', n, now(), 'system', '', '', '', '', 'x', '', '', '', '{}', '', '', '', '' FROM generate_series(1, 1000) n`)
		ok(t, err)
		if n, err := follow.Next(ctx); err != nil || !n.All || len(n.Changes) > 0 {
			t.Errorf("told %d changes, all %v, %v", len(n.Changes), n.All, err)
		}
	})
}

// TestFollowerWaitsForLateCommits: an entry takes its number before it is committed. One
// with a higher number is committed first; the lower one is told when it is there.
func TestFollowerWaitsForLateCommits(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	ids := f.Receive(t, storetest.CampaignEvent())
	follow, err := s.Follow(ctx)
	ok(t, err)
	late, err := f.Owner.BeginTx(ctx, nil)
	ok(t, err)
	enter := func(q interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}, id operation.ID) {
		_, err := q.ExecContext(ctx, `INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
			VALUES ('operation', $1, 900, now(), 'system', '', '', '', '', 'note', 'draft', 'draft', '', '{}', '', '', '', '')`, string(id))
		ok(t, err)
	}
	enter(late, ids[0])
	enter(f.Owner, ids[1])
	before, err := follow.Next(ctx)
	ok(t, err)
	if got := changed(before); !slices.Equal(got, []string{string(ids[1])}) {
		t.Errorf("told %v before the commit", got)
	}
	ok(t, late.Commit())
	after, err := follow.Next(ctx)
	ok(t, err)
	if got := changed(after); !slices.Equal(got, []string{string(ids[0])}) {
		t.Errorf("told %v after the commit", got)
	}
	// Who comes back with the mark of before has not lost the late one.
	n, err := s.NewsAfter(ctx, before.Mark)
	ok(t, err)
	if got := changed(n); !slices.Contains(got, string(ids[0])) {
		t.Errorf("after mark %s: %v", before.Mark, got)
	}
}

// TestFollowerReadsByKeys: its statements are answered from an index, whatever the size.
func TestFollowerReadsByKeys(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CampaignEvent())
	_, err := f.Owner.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		SELECT 'user', 'usr_many', n, now(), 'system', '', '', '', '', 'x', '', '', '', '{}', '', '', '', '' FROM generate_series(1, 20000) n; ANALYZE history`)
	ok(t, err)
	scans := func() (n int64) {
		ok(t, f.Owner.QueryRow(`SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'history'`).Scan(&n))
		return n
	}
	s := f.Open(t, f.AppURL)
	follow, err := s.Follow(t.Context())
	ok(t, err)
	before := scans()
	for range 5 {
		f.Receive(t, storetest.CampaignEvent())
		n, err := follow.Next(t.Context())
		ok(t, err)
		if n.All || len(n.Changes) == 0 {
			t.Fatalf("told %+v", n)
		}
		_, err = s.NewsSince(t.Context(), time.Now())
		ok(t, err)
		_, err = s.NewsAfter(t.Context(), n.Mark)
		ok(t, err)
	}
	ok(t, s.Close()) // sessions report their statistics when they end
	if read := scans() - before; read > 20000 {
		t.Errorf("%d rows of the history read by whole scans", read)
	}
}

// TestListenAfterALostConnection: the listening connection is cut, twice; each time it is
// made again, and hints of other processes arrive.
func TestListenAfterALostConnection(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	p := storetest.NewProxy(t, f.AppURL)
	s, other := f.Open(t, p.URL()), f.Open(t, f.AppURL)
	hinted := make(chan struct{}, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	p.CutOn(func(q string) bool { return strings.HasPrefix(q, "LISTEN") }, storetest.CutAfterForward, 1)
	go func() {
		defer close(ended)
		s.Listen(ctx, func() { hinted <- struct{}{} })
	}()
	arrives := func(when string) {
		t.Helper()
		for limit := time.Now().Add(15 * time.Second); time.Now().Before(limit); other.Hint() {
			select {
			case <-hinted:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
		t.Fatalf("no hint %s", when)
	}
	arrives("after the first connection was cut")
	if p.Cuts() != 1 {
		t.Errorf("%d cuts", p.Cuts())
	}
	for quiet := false; !quiet; { // the hints that are still on their way
		select {
		case <-hinted:
		case <-time.After(time.Second):
			quiet = true
		}
	}
	app, err := sql.Open("postgres", f.AppURL) // a role may end its own connections
	ok(t, err)
	t.Cleanup(func() { _ = app.Close() })
	var n int
	ok(t, app.QueryRow(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()`).Scan(&n))
	if n != 1 {
		t.Fatalf("%d connections listen", n)
	}
	wait(t, hinted, "the connection that was made again") // without anybody's hint
	arrives("after the server ended the connection")
	cancel()
	wait(t, ended, "its end")
}

func wait(t *testing.T, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(15 * time.Second):
		t.Fatalf("no word of %s", what)
	}
}

// TestPeopleHint: a person's decision is hinted at, a machine's is not.
func TestPeopleHint(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Receive(t, storetest.CampaignEvent())[0]
	heard := make(chan struct{}, 100)
	l := pq.NewListener(f.AppURL, time.Second, time.Second, nil)
	t.Cleanup(func() { _ = l.Close() })
	ok(t, l.Listen("holdpoint_live"))
	go func() {
		for n := range l.NotificationChannel() {
			if n != nil {
				heard <- struct{}{}
			}
		}
	}()
	f.Receive(t, storetest.CampaignEvent())
	f.Approve(t, id, "lead")
	wait(t, heard, "the decision")
	select {
	case <-heard:
		t.Error("more than one hint")
	case <-time.After(300 * time.Millisecond):
	}
}

func TestListHolding(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	var hashes [][]byte
	for i, who := range []string{"lead", "ops", "author", "author2"} {
		x := session(f, who, byte(100+i))
		ok(t, s.SaveSession(ctx, x))
		hashes = append(hashes, x.TokenHash)
	}
	ok(t, s.RevokeSession(ctx, hashes[1]))
	ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["author"], "left"))
	_, err := f.Owner.Exec(`UPDATE sessions SET expires_at = created_at WHERE token_hash = $1`, hashes[3])
	ok(t, err)
	got, err := s.ListHolding(ctx, append(hashes, []byte("nobody's")))
	ok(t, err)
	v, there := got[string(hashes[0])]
	if len(got) != 1 || !there || v.ID != f.Users["lead"] || !v.Sees("campaign-follow-up", "crm") || fmt.Sprint(v.Roles) != "[approver]" {
		t.Errorf("holding: %+v", got)
	}
}
