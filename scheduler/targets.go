package scheduler

import (
	"sync"
	"time"
)

// targets hands out the slots in which attempts run: so many at once in the
// process, and so many to one target, so that a slow or dead target cannot
// take the slots that others need.
//
// A target begins with a few slots and earns one more with every quick answer,
// so that one which answers nothing never gets many. A target whose attempts
// take longer than slowAfter is slow; all slow targets together get at most
// half of the slots.
type targets struct {
	limit     int // attempts in flight
	perTarget int // to one target
	start     func(*run)

	mu       sync.Mutex
	byName   map[string]*target
	ready    []*target // targets with waiting runs, in turn
	inFlight int
	slow     int // attempts in flight to slow targets
	closed   bool
}

// target is one host and what it is doing.
type target struct {
	name     string
	queue    []*run
	inFlight int
	allowed  int           // slots it may have
	latency  time.Duration // moving average of its attempts
	progress time.Time     // when an attempt last ended, or the first one began
	listed   bool          // in targets.ready
	isSlow   bool
}

const (
	// slowAfter is the mean duration of an attempt from which a target is slow.
	slowAfter = time.Second

	// firstSlots is what a target may have before it has answered.
	firstSlots = 8
)

func newTargets(limit, perTarget int, start func(*run)) *targets {
	return &targets{limit: limit, perTarget: perTarget, start: start, byName: map[string]*target{}}
}

// submit starts r when a slot is free, and queues it behind its target's
// others when none is. False means that no more attempts are started.
func (t *targets) submit(r *run) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return false
	}
	g := t.byName[r.target]
	if g == nil {
		g = &target{name: r.target, allowed: min(firstSlots, t.perTarget)}
		t.byName[r.target] = g
	}
	g.queue = append(g.queue, r)
	t.list(g)
	started := t.fill()
	t.mu.Unlock()
	t.startAll(started)
	return true
}

// done frees the slot of an attempt that took d.
func (t *targets) done(name string, d time.Duration) {
	t.mu.Lock()
	g := t.byName[name]
	g.inFlight--
	t.inFlight--
	if g.isSlow {
		t.slow--
	}
	g.progress = time.Now()
	g.latency += (d - g.latency) / 4
	if d < slowAfter {
		g.allowed = min(g.allowed+1, t.perTarget)
	}
	t.judge(g)
	if g.inFlight == 0 && len(g.queue) == 0 {
		delete(t.byName, name)
	}
	started := t.fill()
	t.mu.Unlock()
	t.startAll(started)
}

// backlog reports whether runs wait for a slot that an attempt to a quick
// target will free.
func (t *targets) backlog() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.ready {
		if !g.isSlow {
			return true
		}
	}
	return false
}

func (t *targets) startAll(runs []*run) {
	for _, r := range runs {
		t.start(r)
	}
}

// fill gives free slots to the targets that wait, in turn.
func (t *targets) fill() []*run {
	var started []*run
	for n := len(t.ready); n > 0 && t.inFlight < t.limit; n-- {
		g := t.ready[0]
		t.ready = t.ready[1:]
		g.listed = false
		if !t.admits(g) {
			t.list(g)
			continue
		}
		started = append(started, t.take(g))
		if len(g.queue) > 0 {
			t.list(g)
			n++ // it may have another turn
		}
	}
	return started
}

// admits reports whether g may have one more slot.
func (t *targets) admits(g *target) bool {
	return g.inFlight < g.allowed && (!g.isSlow || t.slow < max(1, t.limit/2))
}

func (t *targets) take(g *target) *run {
	r := g.queue[0]
	g.queue[0] = nil
	g.queue = g.queue[1:]
	if g.inFlight == 0 {
		g.progress = time.Now()
	}
	g.inFlight++
	t.inFlight++
	if g.isSlow {
		t.slow++
	}
	return r
}

func (t *targets) list(g *target) {
	if !g.listed && len(g.queue) > 0 {
		g.listed = true
		t.ready = append(t.ready, g)
	}
}

// judge decides whether g is slow, and moves its attempts to that account.
func (t *targets) judge(g *target) {
	slow := g.latency >= slowAfter
	if slow == g.isSlow {
		return
	}
	g.isSlow = slow
	if slow {
		t.slow += g.inFlight
	} else {
		t.slow -= g.inFlight
	}
}

// review judges targets whose attempts have not ended yet: one that answers
// nothing at all would never be found slow by what it answers.
func (t *targets) review(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.byName {
		if waited := now.Sub(g.progress); g.inFlight > 0 && waited > max(slowAfter, g.latency) {
			g.latency = waited
			t.judge(g)
		}
	}
}

// relieve takes out the runs for slow targets that are not likely to start
// soon, all but the first few of each, and says after how long each may be
// tried again.
func (t *targets) relieve(few int) []deferral {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []deferral
	for _, g := range t.byName {
		if g.isSlow && len(g.queue) > few {
			out = append(out, t.shed(g, few)...)
		}
	}
	return out
}

// deferral is a run that goes back to waiting because its target is too busy.
type deferral struct {
	run   *run
	after time.Duration
}

// The bounds of how long a run for a busy target is put off.
const (
	minDeferral = time.Second
	maxDeferral = time.Minute
)

// shed takes all but the first keep runs out of a slow target's queue.
func (t *targets) shed(g *target, keep int) []deferral {
	out := make([]deferral, 0, len(g.queue)-keep)
	for i, r := range g.queue[keep:] {
		turn := time.Duration(float64(keep+i) / float64(g.allowed) * float64(g.latency))
		out = append(out, deferral{r, min(max(turn, minDeferral), maxDeferral)})
	}
	clear(g.queue[keep:])
	g.queue = g.queue[:keep]
	return out
}

// drain empties every queue and starts nothing more.
func (t *targets) drain() []*run {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	var all []*run
	for _, g := range t.byName {
		all = append(all, g.queue...)
		g.queue = nil
	}
	t.ready = nil
	return all
}
