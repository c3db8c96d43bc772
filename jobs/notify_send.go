package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/chat"
	"holdpoint/connector/order"
	"holdpoint/operation"
	"holdpoint/store"

	"github.com/riverqueue/river"
)

// noticeLease is how long one try may take, recording included. A worker that dies
// leaves the notice to another one after that.
const noticeLease = 90 * time.Second

type noticeWorker struct {
	river.WorkerDefaults[store.NoticeArgs]
	n *notifier
}

// Work sends one message, if it is still to be sent. What must happen next stands in the
// notice's row: an error is never returned for the engine to repeat.
func (x *noticeWorker) Work(ctx context.Context, job *river.Job[store.NoticeArgs]) error {
	n := x.n
	if d := n.held(job.Queue); d > 0 {
		return river.JobSnooze(min(d, time.Minute) + rand.N(time.Second))
	}
	o, err := n.w.store.ClaimNotice(ctx, job.Args.Notice, n.domain(), noticeLease)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		n.w.log.Warn("notice not claimed; it is tried again", "notice", job.Args.Notice, "error", err)
		return nil
	}
	r := n.send(n.w.hard, o)
	if n.w.hard.Err() != nil && !r.Sent {
		r.Unknown = r.Unknown || o.Channel != store.ChannelMail // we broke it off
	}
	n.setHold(job.Queue, r.wait)
	n.record(o, r.NoticeResult)
	return nil
}

// sent is a result with how long the chat asked everybody to wait.
type sent struct {
	store.NoticeResult
	wait time.Duration
}

func (n *notifier) send(ctx context.Context, o store.NoticeOrder) sent {
	var r sent
	switch {
	case o.Channel == store.ChannelMail && n.cfg.Mail == nil, o.Channel != store.ChannelMail && n.cfg.Chat == nil:
		r.Code, r.Detail = "not_set_up", "This installation has no such channel now."
	case o.Channel == store.ChannelMail:
		r.NoticeResult = n.sendMail(ctx, o)
	default:
		r = n.sendChat(ctx, o)
	}
	r.Retry = max(backoff(o.Attempt), r.wait)
	return r
}

// backoff is how long after a try the next one comes: doubled each time, from five
// seconds to a quarter of an hour, each at its own moment.
func backoff(attempt int) time.Duration {
	d := 5 * time.Second << min(attempt-1, 8)
	d = min(d, 15*time.Minute)
	return d*3/4 + rand.N(d/2)
}

// sendMail hands the mail over once. A time-out after the final dot leaves open whether
// it was taken: it is sent again with the same Message-ID, since a mail that nobody got
// costs a decision, and one that came twice costs a glance.
func (n *notifier) sendMail(ctx context.Context, o store.NoticeOrder) store.NoticeResult {
	req, err := n.compose(o)
	if err != nil {
		return store.NoticeResult{Permanent: true, Code: "bad_message", Detail: err.Error()}
	}
	res := n.cfg.Mail.Server.Act(ctx, connector.Order{Request: req})
	r := store.NoticeResult{Code: res.Proof.Code, Detail: res.Proof.Detail}
	switch res.Outcome {
	case operation.OutcomeConfirmed:
		r.Sent = true
	case operation.OutcomeUnknown:
		r.Unknown = true
	case operation.OutcomeNotStarted:
		// Only a refused recipient or message stays refused; a wrong sign-in, a missing
		// encryption or a sender that is not let in can be put right meanwhile.
		r.Permanent = res.Permanent && (res.Proof.Code == "recipient_refused" || res.Proof.Code == "bad_message")
	}
	return r
}

func (n *notifier) place(o store.NoticeOrder) chat.Place {
	p := chat.Place{Kind: o.Channel, Channel: o.Place.Channel, Secret: order.Ref(o.Place.Secret), Local: o.Place.Local}
	if o.To.ID != "" {
		p.Channel = o.To.SlackID
	}
	if o.Channel == store.ChannelSlack && p.Secret == (order.Ref{}) {
		p.Secret = n.cfg.SlackToken
	}
	return p
}

func (n *notifier) sendChat(ctx context.Context, o store.NoticeOrder) sent {
	c := n.cfg.Chat.Post(ctx, n.place(o), n.chatMessage(o, false))
	return sent{store.NoticeResult{Sent: c.Sent, Unknown: c.Unknown, Permanent: c.Permanent, Code: c.Code, Detail: c.Detail, Remote: c.Remote}, c.RetryAfter}
}

// record writes the result. It is tried while the lease holds: after that, another try
// stands in its place.
func (n *notifier) record(o store.NoticeOrder, r store.NoticeResult) {
	w := n.w
	log := w.log.With("notice", o.ID, "channel", o.Channel, "attempt", o.Attempt)
	w.metrics.noticed(o, r)
	ctx, cancel := context.WithTimeout(context.Background(), noticeLease/2)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := w.store.RecordNotice(ctx, o, r)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			log.Warn("what became of the notice could not be recorded; it is tried again", "error", err)
			return
		case <-time.After(wait):
		}
	}
	if !r.Sent {
		log.Warn("notice not sent", "code", r.Code, "detail", r.Detail, "unknown", r.Unknown, "for_good", r.Permanent)
	}
}

type noticeUpdateWorker struct {
	river.WorkerDefaults[store.NoticeUpdateArgs]
	n *notifier
}

// Work changes a chat message whose matter is decided. The engine repeats it for a while.
func (x *noticeUpdateWorker) Work(ctx context.Context, job *river.Job[store.NoticeUpdateArgs]) error {
	n := x.n
	if n.cfg.Chat == nil {
		return nil
	}
	if d := n.held(job.Queue); d > 0 {
		return river.JobSnooze(min(d, time.Minute) + rand.N(time.Second))
	}
	o, err := n.w.store.ClaimNoticeUpdate(ctx, job.Args.Notice)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r := n.cfg.Chat.Update(n.w.hard, n.place(o), o.Remote, n.chatMessage(o, true))
	n.setHold(job.Queue, r.RetryAfter)
	if !r.Sent && !r.Permanent {
		return errors.New("the chat message was not changed: " + r.Code)
	}
	trouble := ""
	if !r.Sent {
		trouble = r.Code + ": " + r.Detail
	}
	return n.w.store.RecordNoticeUpdate(ctx, o.ID, trouble)
}
