package bench

import (
	"bytes"
	"database/sql"
	"testing"

	_ "github.com/lib/pq"
)

// TestNoScan: no statement of the gate reads a growing table whole. Plans are made once,
// perhaps when the table was empty.
func TestNoScan(t *testing.T) {
	var log bytes.Buffer
	h, err := build(t.Context(), 2, &log)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	const cycles = 60
	for range cycles {
		if err := h.cycle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.st.Close(); err != nil { // sessions report their statistics when they end
		t.Fatal(err)
	}
	db, err := sql.Open("postgres", h.pg.OwnerURL(""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE n_tup_ins >= $1 AND seq_tup_read > $1 * 10`, cycles)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var read int64
		if err := rows.Scan(&table, &read); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s: %d rows read by whole scans in %d cycles", table, read, cycles)
	}
}
