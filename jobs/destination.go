package jobs

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"holdpoint/connector"
	"holdpoint/operation/definition"
)

// destinations keeps, per destination, what this process uses to reach it.
type destinations struct {
	worker *Worker
	mu     sync.Mutex
	all    map[string]*destination
}

// destination is one destination at one version of its profile.
type destination struct {
	profile *definition.Profile
	conn    connector.Connector
	limiter *connector.Limiter
	waiting *atomic.Int32
}

// find gives the destination as it was last seen, or as it stands in the record.
func (ds *destinations) find(ctx context.Context, name string) (*destination, error) {
	ds.mu.Lock()
	d := ds.all[name]
	ds.mu.Unlock()
	if d != nil {
		return d, nil
	}
	p, _, err := ds.worker.store.Profile(ctx, name)
	if err != nil {
		return nil, err
	}
	return ds.at(p)
}

// at gives the destination at this profile. A new version of the profile gets a new
// connector; the limiter stays while the limits stay.
func (ds *destinations) at(p *definition.Profile) (*destination, error) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	old := ds.all[p.Destination]
	if old != nil && old.profile == p {
		return old, nil
	}
	conn, err := ds.worker.cfg.Connect(p)
	if err != nil {
		return nil, err
	}
	d := &destination{profile: p, conn: conn, waiting: new(atomic.Int32)}
	if old != nil && old.profile.Limits == p.Limits {
		d.limiter, d.waiting = old.limiter, old.waiting
	} else {
		d.limiter = connector.NewLimiterFor(p)
	}
	ds.all[p.Destination] = d
	return d, nil
}

// patience is how long a woken worker waits for a token before it makes room.
const patience = 5 * time.Second

// acquire takes a token before the claim, so that no lease runs while it waits. ok is
// false when the job should come back later: too many wait already, or too long, or
// the worker is stopping. A slow destination must not occupy all workers.
func (d *destination) acquire(ctx context.Context, most int) (release func(), ok bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	if release, ok := d.limiter.TryAcquire(); ok {
		return release, true
	}
	if int(d.waiting.Add(1)) > most {
		d.waiting.Add(-1)
		return nil, false
	}
	defer d.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	release, err := d.limiter.Acquire(ctx)
	return release, err == nil
}
