package store

import (
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// The channels of notices: mail, and the kinds of chat places.
const (
	ChannelMail      = "mail"
	ChannelSlack     = definition.PlaceSlack
	ChannelSlackHook = definition.PlaceSlackHook
	ChannelTeams     = definition.PlaceTeams
)

// NoticeChannel is a channel with the queue of its own jobs: one that is away or slow
// holds no other up.
var noticeQueues = map[string]string{ChannelMail: "notices_mail", ChannelSlack: "notices_slack", ChannelSlackHook: "notices_hook", ChannelTeams: "notices_teams"}

// NoticeQueues lists the queues of notices by channel.
func NoticeQueues() map[string]string {
	out := make(map[string]string, len(noticeQueues))
	for c, q := range noticeQueues {
		out[c] = q
	}
	return out
}

// NoticeChannels says by which channels a person can be reached: what is set up in the
// installation.
type NoticeChannels struct {
	Mail  bool // there is a mail server
	Slack bool // there is a bot token, so that people get direct messages
}

// What notices are gathered with. Those of one bundle become one message.
const (
	bundleDaily = "digest"
	bundleQuiet = "quiet" // came during the quiet hours
	bundleStorm = "storm" // too many of one kind at once; the kind follows
)

// The storm rule: more than stormSize notices of a kind for one addressee within
// stormTime become one summary, which waits that long for the others.
const (
	stormSize = 5
	stormTime = time.Minute
)

// NoticeArgs wakes a worker to send one notice, or the bundle that it belongs to. It only
// wakes: the notice's row decides. Attempt makes each try a job of its own.
type NoticeArgs struct {
	Notice  operation.NoticeID `json:"notice"`
	Attempt int                `json:"attempt"`
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "notice" }

// NoticeUpdateArgs wakes a worker to change a chat message whose matter is decided.
type NoticeUpdateArgs struct {
	Notice operation.NoticeID `json:"notice"`
}

// Kind names the job.
func (NoticeUpdateArgs) Kind() string { return "notice_update" }

// updateTries is how often the change of one chat message is tried by one job.
const updateTries = 8

// onceWhileThere lets a job in only when none like it waits or runs.
var onceWhileThere = river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending,
	rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}}

// noticeWake is the job of a notice; at zero = at once.
func noticeWake(id operation.NoticeID, attempt int, channel string, at time.Time) river.InsertManyParams {
	return river.InsertManyParams{Args: NoticeArgs{id, attempt}, InsertOpts: &river.InsertOpts{MaxAttempts: 1, Queue: noticeQueues[channel], ScheduledAt: at, UniqueOpts: onceWhileThere}}
}

// wakeNotices inserts the jobs in the same transaction as the rows that they are about.
func (t *tx) wakeNotices(jobs []river.InsertManyParams) error {
	if len(jobs) == 0 || t.s.river == nil {
		return nil
	}
	_, err := t.s.river.InsertManyTx(t.ctx, t.Tx.Tx, jobs)
	return err
}

// wakeAt is the time of a job: one that is due at once carries none, since the engine
// looks at scheduled jobs every five seconds only.
func wakeAt(at, now time.Time) time.Time {
	if !at.After(now) {
		return time.Time{}
	}
	return at
}
