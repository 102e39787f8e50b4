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
//
// What a collection imposes on a target holds beside that, for the attempts of
// its own jobs: they are a target of their own here.
type targets struct {
	limit     int // attempts in flight
	perTarget int // to one target
	start     func(*run)
	postpone  func(*run, time.Time) // puts a run off: the circuit is open until then

	mu       sync.Mutex
	byName   map[string]*target
	ready    []*target // targets with waiting runs, in turn
	inFlight int
	slow     int // attempts in flight to slow targets
	closed   bool
	timer    *time.Timer // wakes the targets that wait for their rate; nil: none does
	wake     time.Time   // when it does
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

	rule    *TargetRule // nil: none
	pacer   pacer
	breaker breaker
}

const (
	// slowAfter is the mean duration of an attempt from which a target is slow.
	slowAfter = time.Second

	// firstSlots is what a target may have before it has answered.
	firstSlots = 8
)

func newTargets(limit, perTarget int, start func(*run), postpone func(*run, time.Time)) *targets {
	return &targets{limit: limit, perTarget: perTarget, start: start, postpone: postpone, byName: map[string]*target{}}
}

// submit starts r when a slot is free, and queues it behind its target's
// others when none is. False means that no more attempts are started.
func (t *targets) submit(r *run) bool {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return false
	}
	g := t.byName[r.group]
	if g == nil {
		g = &target{name: r.group, allowed: min(firstSlots, t.perTarget)}
		t.byName[r.group] = g
	}
	g.rule = r.rule
	if until, open := g.putsOff(r, time.Now()); open {
		t.mu.Unlock()
		t.postpone(r, until)
		return true
	}
	g.queue = append(g.queue, r)
	t.list(g)
	started := t.fill()
	t.mu.Unlock()
	t.startAll(started)
	return true
}

// putsOff reports whether the circuit is open for r, and until when.
func (g *target) putsOff(r *run, now time.Time) (until time.Time, open bool) {
	if g.rule == nil || g.rule.Breaker == nil || !g.breaker.open(now) || r.forced(g.rule.Breaker, now) {
		return time.Time{}, false
	}
	return g.breaker.until, true
}

// done frees the slot of an attempt that ended with res.
func (t *targets) done(r *run, res Result) {
	t.mu.Lock()
	g, d, now := t.byName[r.group], res.Duration, time.Now()
	g.inFlight--
	t.inFlight--
	if g.isSlow {
		t.slow--
	}
	g.progress = now
	g.latency += (d - g.latency) / 4
	if d < slowAfter {
		g.allowed = min(g.allowed+1, t.perTarget)
	}
	t.judge(g)
	late := g.outcome(res, now)
	if g.idle(now) {
		delete(t.byName, g.name)
	}
	until, started := g.breaker.until, t.fill()
	t.mu.Unlock()
	t.startAll(started)
	for _, r := range late {
		t.postpone(r, until)
	}
}

// outcome tells the circuit how an attempt ended. When that opens it, the runs
// that must be put off come out of the queue.
func (g *target) outcome(res Result, now time.Time) []*run {
	if g.rule == nil || !g.breaker.end(g.rule.Breaker, res, now) {
		return nil
	}
	var late, kept []*run
	for _, r := range g.queue {
		if r.forced(g.rule.Breaker, now) {
			kept = append(kept, r)
		} else {
			late = append(late, r)
		}
	}
	g.queue = kept
	return late
}

// idle reports whether nothing is to be remembered of g.
func (g *target) idle(now time.Time) bool {
	return g.inFlight == 0 && len(g.queue) == 0 && g.breaker == breaker{} && !g.pacer.next.After(now)
}

// backlog reports whether runs wait for a slot that an attempt to a quick
// target will free.
func (t *targets) backlog() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.ready {
		if !g.isSlow && (g.rule == nil || g.inFlight > 0 && g.rule.Rate == 0) {
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
	now := time.Now()
	for n := len(t.ready); n > 0 && t.inFlight < t.limit; n-- {
		g := t.ready[0]
		t.ready = t.ready[1:]
		g.listed = false
		if !t.admits(g) || g.rule != nil && !t.follows(g, now) {
			t.list(g)
			continue
		}
		started = append(started, t.take(g, now))
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

// follows reports whether one more attempt to g follows its rule. One that
// waits for its rate is woken.
func (t *targets) follows(g *target, now time.Time) bool {
	switch {
	case len(g.queue) == 0:
		return false
	case g.rule.Concurrency > 0 && g.inFlight >= g.rule.Concurrency:
		return false
	case g.rule.Breaker != nil && !g.breaker.admits(now) && !g.queue[0].forced(g.rule.Breaker, now):
		return false
	case g.rule.Rate == 0:
		return true
	}
	ready := g.pacer.ready(g.rule)
	if now.Before(ready) {
		t.wakeAt(ready, now)
		return false
	}
	return true
}

// wakeAt fills slots again at a time.
func (t *targets) wakeAt(at, now time.Time) {
	if t.closed || t.timer != nil && !t.wake.After(at) {
		return
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	t.wake = at
	t.timer = time.AfterFunc(at.Sub(now), t.refill)
}

// refill fills slots because time has passed.
func (t *targets) refill() {
	t.mu.Lock()
	t.timer = nil
	var started []*run
	if !t.closed {
		started = t.fill()
	}
	t.mu.Unlock()
	t.startAll(started)
}

func (t *targets) take(g *target, now time.Time) *run {
	r := g.queue[0]
	g.queue[0] = nil
	g.queue = g.queue[1:]
	if g.inFlight == 0 {
		g.progress = now
	}
	if g.rule != nil {
		g.breaker.begin(now)
		if g.rule.Rate > 0 {
			g.pacer.take(g.rule, now)
		}
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
		if (g.isSlow || g.rule != nil) && len(g.queue) > few {
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
	each := float64(g.latency) / float64(g.allowed)
	if g.rule != nil && g.rule.Concurrency > 0 {
		each = max(each, float64(g.latency)/float64(g.rule.Concurrency))
	}
	if g.rule != nil && g.rule.Rate > 0 {
		each = max(each, float64(g.rule.interval()))
	}
	for i, r := range g.queue[keep:] {
		turn := time.Duration(float64(keep+i) * each)
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
	if t.timer != nil {
		t.timer.Stop()
	}
	var all []*run
	for _, g := range t.byName {
		all = append(all, g.queue...)
		g.queue = nil
	}
	t.ready = nil
	return all
}
