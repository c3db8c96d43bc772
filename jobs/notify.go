package jobs

import (
	"context"
	"math/rand/v2"
	"net/mail"
	"strings"
	"sync"
	"time"

	"holdpoint/connector/chat"
	"holdpoint/connector/order"
	"holdpoint/connector/smtp"
	"holdpoint/store"

	"github.com/riverqueue/river"
)

// Notify is how people are told that something waits for them, or has happened.
type Notify struct {
	PublicURL string // address that people open; links lead there
	Mail      *Mail  // nil = no mail
	Chat      *chat.Client
	// SlackToken is the installation's bot token: for direct messages, and for places of
	// flows that name no token of their own. Zero = none.
	SlackToken order.Ref
	// Every is how often the record is looked at; 0 = DefaultLook.
	Every time.Duration
}

// Mail is the installation's mail server and sender.
type Mail struct {
	Server *smtp.Connector
	From   mail.Address
}

// DefaultLook is how often the record is looked at for what people are to be told of.
const DefaultLook = 2 * time.Second

// The rhythm of the rest, in looks and times.
const (
	digestEvery = 15               // looks between two for daily digests
	wakeEvery   = 10               // looks between two for lost jobs
	wakeGrace   = 20 * time.Second // how long a due notice may be without a job
	lookRounds  = 20               // windows that one look reads at most
)

// noticeWorkers is how many messages of one channel are on their way at once. Each
// channel has its own: one that hangs holds no other up.
const noticeWorkers = 4

// notifier is the part of a worker that tells people.
type notifier struct {
	w    *Worker
	cfg  Notify
	mu   sync.Mutex
	hold map[string]time.Time // until when a chat asked everybody to wait
}

func (n *notifier) channels() store.NoticeChannels {
	return store.NoticeChannels{Mail: n.cfg.Mail != nil, Slack: n.cfg.Chat != nil && n.cfg.SlackToken != order.Ref{}}
}

// noticeQueues gives each channel its own queue.
func noticeQueues() map[string]river.QueueConfig {
	out := map[string]river.QueueConfig{}
	for _, q := range store.NoticeQueues() {
		out[q] = river.QueueConfig{MaxWorkers: noticeWorkers, FetchPollInterval: time.Second, FetchCooldown: 100 * time.Millisecond}
	}
	return out
}

// run looks until the worker stops. Every process looks; the record lets one at a time.
func (n *notifier) run() {
	w := n.w
	every := n.cfg.Every
	if every <= 0 {
		every = DefaultLook
	}
	for i := 0; ; i++ {
		select {
		case <-w.stopping.Done():
			return
		case <-time.After(every*9/10 + rand.N(every/5+1)):
		}
		ctx, cancel := context.WithTimeout(w.stopping, time.Minute)
		n.look(ctx)
		if i%digestEvery == 0 {
			planned, err := w.store.PlanDigests(ctx, n.channels())
			w.swept("digest", planned, err)
			planned, err = w.store.PlanTaskNotices(ctx, n.channels())
			w.swept("task", planned, err)
		}
		if i%wakeEvery == 0 {
			woken, err := w.store.WakeNotices(ctx, wakeGrace)
			w.swept("notice_job", woken, err)
			n.count(ctx)
		}
		cancel()
	}
}

// look plans what is new. A burst is read in several windows.
func (n *notifier) look(ctx context.Context) {
	for range lookRounds {
		p, err := n.w.store.PlanNotices(ctx, n.channels())
		n.w.swept("notice", p.Planned, err)
		if err != nil || !p.More {
			return
		}
	}
}

func (n *notifier) count(ctx context.Context) {
	waiting, err := n.w.store.WaitingNotices(ctx)
	if err != nil {
		return // the next look counts again
	}
	for channel, k := range waiting {
		n.w.metrics.noticesWaiting.WithLabelValues(channel).Set(float64(k))
	}
}

// held gives how long a chat asked to be left alone.
func (n *notifier) held(key string) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Until(n.hold[key])
}

func (n *notifier) setHold(key string, d time.Duration) {
	if d <= 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hold == nil {
		n.hold = map[string]time.Time{}
	}
	n.hold[key] = time.Now().Add(d)
}

// domain is the right side of Message-IDs: the sender's, so that it is the
// organisation's own.
func (n *notifier) domain() string {
	if n.cfg.Mail != nil {
		if _, d, ok := strings.Cut(n.cfg.Mail.From.Address, "@"); ok {
			return d
		}
	}
	return "holdpoint.invalid"
}
