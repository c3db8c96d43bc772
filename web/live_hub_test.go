package web

import (
	"strconv"
	"testing"

	"holdpoint/store"
)

// TestHubLetsTheSlowGo: a browser that takes nothing is let go once its queue is full;
// the others are told everything, in order.
func TestHubLetsTheSlowGo(t *testing.T) {
	h := newHub(Config{})
	join := func() *listener {
		l := &listener{queue: make(chan string, liveQueue), gone: make(chan struct{}), hub: h}
		h.open[l] = struct{}{}
		return l
	}
	slow, quick := join(), join()
	const n = 3 * liveQueue
	for i := range n {
		h.tell(store.News{All: true, Mark: strconv.Itoa(i)})
		want := event("change", strconv.Itoa(i), liveEvent{All: true})
		if got := <-quick.queue; got != want {
			t.Fatalf("told %q, want %q", got, want)
		}
	}
	select {
	case <-slow.gone:
	default:
		t.Error("the slow one is still waited for")
	}
	select {
	case <-quick.gone:
		t.Error("the quick one was let go")
	default:
	}
	if slow.why != endedSlow || len(slow.queue) != liveQueue || h.count() != 1 {
		t.Errorf("why %v, %d in the queue, %d open", slow.why, len(slow.queue), h.count())
	}
	if quick.mark() != strconv.Itoa(n-1) {
		t.Errorf("mark %s", quick.mark())
	}
	h.leave(quick)
	if !h.idle() {
		t.Error("the hub goes on for nobody")
	}
}

// TestEvent is what a browser reads.
func TestEvent(t *testing.T) {
	e := liveEvent{Operations: []liveChange{{ID: "op_1", Run: "run_1", Revision: 3}}, Inbox: true}
	want := "id: 7\nevent: change\ndata: {\"operations\":[{\"id\":\"op_1\",\"run\":\"run_1\",\"revision\":3}],\"inbox\":true}\n\n"
	if got := event("change", "7", e); got != want {
		t.Errorf("%q", got)
	}
	if got := event("end", "", struct{}{}); got != "event: end\ndata: {}\n\n" {
		t.Errorf("%q", got)
	}
}
