package main

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// figuresEvery is how long counts are good: scrapes in between ask the database nothing.
const figuresEvery = 5 * time.Second

// scraped is what a scrape reads from the database, kept for figuresEvery.
type scraped[T any] struct {
	find func(context.Context) (T, error)

	mu   sync.Mutex
	last T
	at   time.Time
}

// current gives the counts; false when the database does not answer, so that an old
// number is never taken for the present one. what names them in the log.
func (s *scraped[T]) current(what string) (now T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.at.IsZero() && time.Since(s.at) < figuresEvery {
		return s.last, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	now, err := s.find(ctx)
	if err != nil {
		slog.Warn(what, "error", err)
		return now, false
	}
	s.last, s.at = now, time.Now()
	return now, true
}
