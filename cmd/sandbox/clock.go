package main

import (
	"sync"
	"time"
)

// clock is the sandbox's own time: the machine's, plus what was advanced.
// Retention of keys, index lag, automatic delivery and slow effects follow it.
type clock struct {
	mu     sync.Mutex
	offset time.Duration
	moved  bell // rings when it was advanced
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset).UTC()
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	c.offset += d
	c.mu.Unlock()
	c.moved.ring()
}

func (c *clock) advanced() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

func (c *clock) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = 0
}

// bell wakes everyone who waits for the next change.
type bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// next is closed at the next ring. Take it before looking at what may change.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
