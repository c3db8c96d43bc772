package handlers_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// listEnv names the environment variable with the number of rows of a long list, where a
// thousand are too few.
const listEnv = "HOLDPOINT_TEST_LIST"

// TestLongList hands a long list in by its page, looks at it, and makes a batch of it. What it
// needs of memory does not follow from the list. It runs alone, since it looks at the heap.
func TestLongList(t *testing.T) {
	rows, name := 800, strings.Repeat("n", 9_000) // 7 MB
	if n, err := strconv.Atoi(os.Getenv(listEnv)); err == nil && n > 0 {
		rows, name = n, strings.Repeat("n", 500)
	}
	h := newHouse(t)
	h.ApplyMailing(t, "")
	b := h.as(t, "author")
	b.http.Timeout = 10 * time.Minute
	heap := watchHeap()
	begun := time.Now()
	page := b.handInLong(t, rows, name)
	looked := time.Since(begun)
	action, form := page.form("form-list")
	form.Set("content.in.season", "spring")
	form.Set("content.text.subject", "Hello")
	page = b.follow(b.do(http.MethodPost, action, form))
	if !strings.Contains(page.body, `data-testid="create"`) {
		t.Fatalf("%d no batch can be made:\n%s", page.status, page.body)
	}
	action, form = page.form("form-list")
	made := b.do(http.MethodPost, strings.TrimSuffix(action, "look")+"create", form)
	id := operation.BatchID(strings.TrimPrefix(made.header.Get("Location"), "/batches/"))
	most := heap()
	if made.status != http.StatusSeeOther || h.BatchState(t, id) != operation.BatchPendingApproval || h.Count(t, "batch_items WHERE batch_id = $1 AND excluded = '' AND problems = ''", string(id)) != rows {
		t.Fatalf("%d %s", made.status, made.body)
	}
	t.Logf("%d rows, %d MB: looked at after %s, made after %s, at most %d MB of heap more", rows, rows*(len(name)+30)>>20, looked, time.Since(begun), most>>20)
	if most > 64<<20 {
		t.Errorf("the heap grew by %d MB", most>>20)
	}
	h.oneTooMany(t, b)
}

// oneTooMany: a list that is one row too long is refused with a sentence, and stays a file.
func (h *house) oneTooMany(t *testing.T, b *browser) {
	t.Helper()
	begun := time.Now()
	page := b.handInLong(t, definition.MaxListItems+1, "Ann")
	if !strings.Contains(page.body, `data-testid="list-broken"`) || !strings.Contains(page.body, "100,000") || strings.Contains(page.body, `data-testid="create"`) || h.Count(t, "batches") != 1 {
		t.Errorf("%d one row too many:\n%s", page.status, page.body)
	}
	t.Logf("one row too many: refused after %s", time.Since(begun))
}

// handInLong hands in a list as it is written, and follows to the look at it.
func (b *browser) handInLong(t *testing.T, rows int, name string) *answer {
	t.Helper()
	action, form := b.do(http.MethodGet, "/flows/mailing/batches/new", nil).form("form-list")
	r, pipe := io.Pipe()
	w := multipart.NewWriter(pipe)
	go func() {
		for name := range form {
			_ = w.WriteField(name, form.Get(name))
		}
		p, err := w.CreateFormFile("list", "long.csv")
		if err == nil {
			_, err = io.WriteString(p, "email,name\n")
		}
		var line bytes.Buffer
		for i := 0; i < rows && err == nil; i++ {
			line.Reset()
			fmt.Fprintf(&line, "r%06d@example.test,%s\n", i, name)
			_, err = p.Write(line.Bytes())
		}
		if err == nil {
			err = w.Close()
		}
		_ = pipe.CloseWithError(err)
	}()
	return b.follow(b.postBody(action, w.FormDataContentType(), r))
}

// watchHeap samples what is live in the heap until the function that it returns is called: the
// most above the beginning, in bytes. The collector runs often meanwhile.
func watchHeap() func() int64 {
	often := debug.SetGCPercent(20)
	runtime.GC()
	live := func() int64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	before, over, most := live(), make(chan struct{}), make(chan int64)
	go func() {
		n := int64(0)
		for {
			select {
			case <-over:
				most <- n
				return
			case <-time.After(10 * time.Millisecond):
				n = max(n, live()-before)
			}
		}
	}()
	return func() int64 {
		close(over)
		debug.SetGCPercent(often)
		return <-most
	}
}
