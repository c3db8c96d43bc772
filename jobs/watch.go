package jobs

import (
	"context"
	"math/rand/v2"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views/text"
)

// watchEvery is how often figures are held against their limits, and looked whether a
// review is due. All processes look; the record lets each limit be judged by one of them
// in that time, and each review be made once.
const watchEvery = time.Minute

// watch judges limits and makes reviews until the worker stops.
func (w *Worker) watch() {
	for wait := rand.N(watchEvery / 10); ; wait = watchEvery*9/10 + rand.N(watchEvery/5) {
		select {
		case <-w.stopping.Done():
			return
		case <-time.After(wait):
		}
		ctx, cancel := context.WithTimeout(w.stopping, 10*time.Minute)
		w.watchOnce(ctx)
		cancel()
	}
}

// watchOnce judges what is due now and makes the reviews that are missing.
func (w *Worker) watchOnce(ctx context.Context) {
	var channels store.NoticeChannels
	if w.notify != nil {
		channels = w.notify.channels()
	}
	moves, err := w.store.JudgeLimits(ctx, channels, watchEvery*9/10, breachTitle)
	w.swept("limit", moves, err)
	silent, err := w.store.SweepSilentSources(ctx, silenceTitle)
	w.swept("silent_source", silent, err)
	made, err := w.store.MakeReports(ctx, channels)
	w.swept("report", made, err)
}

// breachTitle is the title of a breach's improvement task, in the language of whoever
// owns it.
func breachTitle(l store.LimitSeen, language string) string {
	return limitHeading(text.New(language, time.UTC, time.Now()), limitOf(l, operation.NoticeLimit))
}

// silenceTitle is the title of the task about a silent source.
func silenceTitle(i store.SourceState, language string) string {
	p := text.New(language, time.UTC, time.Now())
	return p.T("sources.silent_task", "Source", i.Source.Title.In(p.Lang), "Time", p.Duration(i.Source.Silence))
}

func limitOf(l store.LimitSeen, kind operation.NoticeKind) *store.LimitNotice {
	return &store.LimitNotice{LimitSettings: l.LimitSettings, Measured: l.Measured, Back: kind == operation.NoticeLimitBack, Titles: l.Titles}
}
