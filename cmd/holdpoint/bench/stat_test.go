package bench

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"

	"holdpoint/store/pglocal"

	_ "github.com/lib/pq"
)

func TestStat(t *testing.T) {
	ctx := context.Background()
	pg, err := pglocal.Start(ctx, pglocal.Config{Settings: map[string]string{"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_planning": "on", "max_wal_size": "8GB"}})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{pg: pg, log: os.Stderr}
	defer h.close()
	if err := h.furnish(ctx, 4); err != nil {
		t.Fatal(err)
	}
	db, _ := sql.Open("postgres", strings.Replace(pg.AdminURL(), "/postgres?", "/holdpoint?", 1))
	for range 20 {
		if err := h.cycle(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec("CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()"); err != nil {
		t.Fatal(err)
	}
	own := ownTicks()
	n := 200
	for range n {
		if err := h.cycle(ctx); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("cpu %.2f ms", (ownTicks()-own)*10/float64(n))
	rows, err := db.Query("SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 90), calls, plans, total_plan_time, total_exec_time FROM pg_stat_statements ORDER BY total_plan_time+total_exec_time DESC LIMIT 30")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var q string
		var c, p int
		var pt, et float64
		_ = rows.Scan(&q, &c, &p, &pt, &et)
		t.Logf("%5d %5d plan %7.1f exec %7.1f  %s", c, p, pt, et, q)
	}
}
