package scheduler

import (
	"slices"
	"sync"
	"time"
)

// targets hands out the slots in which attempts run: so many at once in the
// process, and so many to one target, so that a slow or dead target cannot
// take the slots that others need.
//
// A target begins with a few slots and earns one more with every quick answer
// and every success, however long that took, so that one which answers nothing
// never gets many. A target whose attempts take longer than slowAfter is slow;
// all slow targets together get at most half of the slots.
//
// What a collection imposes on a target holds beside that, for the attempts of
// its own jobs: they are a target of their own here.
type targets struct {
	limit     int // attempts in flight
	perTarget int // to one target
	start     func(*run)
	putOff    func(deferral)

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

	collection, target string      // whose rule it is, and for what
	rule               *TargetRule // nil: none
	pacer              pacer
	breaker            breaker
}

const (
	// slowAfter is the mean duration of an attempt from which a target is slow.
	slowAfter = time.Second

	// firstSlots is what a target may have before it has answered.
	firstSlots = 8
)

func newTargets(limit, perTarget int, start func(*run), putOff func(deferral)) *targets {
	return &targets{limit: limit, perTarget: perTarget, start: start, putOff: putOff, byName: map[string]*target{}}
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
		g = &target{name: r.group, collection: r.key().Collection, target: r.target, allowed: min(firstSlots, t.perTarget)}
		t.byName[r.group] = g
	}
	g.rule = r.rule
	if d, open := g.putsOff(r, time.Now()); open {
		t.mu.Unlock()
		t.putOff(d)
		return true
	}
	g.enqueue(r)
	t.list(g)
	started := t.fill()
	t.mu.Unlock()
	t.startAll(started)
	return true
}

// enqueue puts r behind the others. One that the circuit does not put off any
// longer goes before them: it need not wait with them until the target is back.
func (g *target) enqueue(r *run) {
	if g.rule != nil && g.rule.Breaker != nil && r.forced(g.rule.Breaker, time.Now()) {
		g.queue = slices.Insert(g.queue, 0, r)
		return
	}
	g.queue = append(g.queue, r)
}

// putsOff reports whether the circuit is open for r.
func (g *target) putsOff(r *run, now time.Time) (d deferral, open bool) {
	if g.rule == nil || g.rule.Breaker == nil || !g.breaker.open(now) || r.forced(g.rule.Breaker, now) {
		return d, false
	}
	return deferral{r, g.breaker.until, delayCircuit, g.rule}, true
}

// done frees the slot of an attempt that ended with res.
func (t *targets) done(r *run, res Result) {
	t.mu.Lock()
	g, d, now := t.byName[r.group], res.Duration, time.Now()
	t.leave(g)
	g.progress = now
	g.latency += (d - g.latency) / 4
	if d < slowAfter || !res.Failed {
		g.allowed = min(g.allowed+1, t.perTarget)
	}
	t.judge(g)
	late := g.outcome(r, res, now)
	t.prune(g, now)
	started := t.fill()
	t.mu.Unlock()
	t.startAll(started)
	for _, d := range late {
		t.putOff(d)
	}
}

// forgo frees the slot of a run that did not begin its attempt after all.
func (t *targets) forgo(r *run) {
	t.mu.Lock()
	g := t.byName[r.group]
	t.leave(g)
	if r.probe {
		g.breaker.probing = false
	}
	if g.rule != nil && g.rule.Rate > 0 {
		g.pacer.giveBack(g.rule)
	}
	t.prune(g, time.Now())
	started := t.fill()
	t.mu.Unlock()
	t.startAll(started)
}

// leave counts an attempt to g that is over.
func (t *targets) leave(g *target) {
	g.inFlight--
	t.inFlight--
	if g.isSlow {
		t.slow--
	}
}

// prune forgets g when there is nothing to be remembered of it.
func (t *targets) prune(g *target, now time.Time) {
	if g.inFlight == 0 && len(g.queue) == 0 && g.breaker.quiet(now) && !g.pacer.next.After(now) {
		delete(t.byName, g.name)
	}
}

// outcome tells the circuit how an attempt ended. When that opens it, the runs
// that must be put off come out of the queue.
func (g *target) outcome(r *run, res Result, now time.Time) []deferral {
	if g.rule == nil || !g.breaker.end(g.rule.Breaker, res, now, r.probe) {
		return nil
	}
	var late []deferral
	kept := g.queue[:0]
	for _, r := range g.queue {
		if d, open := g.putsOff(r, now); open {
			late = append(late, d)
		} else {
			kept = append(kept, r)
		}
	}
	clear(g.queue[len(kept):])
	g.queue = kept
	return late
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
		if len(g.queue) == 0 {
			continue // what waited was put off
		}
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

// refill fills slots because time has passed. Nothing starts after drain: that
// waits for the lock.
func (t *targets) refill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = nil
	t.refillNow()
}

// refillNow fills slots under the lock.
func (t *targets) refillNow() {
	if !t.closed {
		t.startAll(t.fill())
	}
}

func (t *targets) take(g *target, now time.Time) *run {
	r := g.queue[0]
	g.queue[0] = nil
	g.queue = g.queue[1:]
	if g.inFlight == 0 {
		g.progress = now
	}
	if r.probe = false; g.rule != nil {
		r.probe = g.breaker.begin(now)
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
// nothing at all would never be found slow by what it answers. It also brings
// the rules up to date, and forgets targets that are idle.
func (t *targets) review(now time.Time, rule func(collection, target string) *TargetRule) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range t.byName {
		if waited := now.Sub(g.progress); g.inFlight > 0 && waited > max(slowAfter, g.latency) {
			g.latency = waited
			t.judge(g)
		}
		if g.rule != nil {
			g.rule = rule(g.collection, g.target)
		}
		t.prune(g, now)
	}
	t.refillNow()
}

// paceAhead is how far ahead of their turn runs for a target with a rate are
// kept: the others wait outside the process, and take no place from others.
const paceAhead = 3 * time.Second

// pace puts off what the rates of targets do not let begin soon.
func (t *targets) pace(now time.Time) {
	t.shedAll(func(g *target) []deferral {
		if g.rule == nil || g.rule.Rate == 0 {
			return nil
		}
		each := g.rule.interval()
		ready, keep := max(0, g.pacer.ready(g.rule).Sub(now)), 0
		if ready <= paceAhead {
			keep = int((paceAhead-ready)/each) + 1
		}
		return g.shed(keep, delayPace, func(i int) time.Time { return now.Add(min(ready+time.Duration(i)*each, maxPaceDelay)) })
	})
}

// relieve puts off the runs for targets that are slow or let few attempts run
// at once, all but the first few of each: others need the place.
func (t *targets) relieve(now time.Time, few int) {
	t.shedAll(func(g *target) []deferral {
		why, slots := delaySlow, g.allowed
		switch {
		case g.rule != nil && g.rule.Concurrency > 0:
			why, slots = delayPace, min(slots, g.rule.Concurrency)
		case !g.isSlow:
			return nil
		}
		each := float64(g.latency) / float64(slots)
		return g.shed(few, why, func(i int) time.Time {
			return now.Add(min(max(time.Duration(float64(i)*each), minDelay), maxDelay))
		})
	})
}

// The bounds of how long a run is put off.
const (
	minDelay     = time.Second
	maxDelay     = time.Minute
	maxPaceDelay = 5 * time.Minute // a rule may change, and the turn come sooner
)

// shedAll puts off what shed takes out of each queue.
func (t *targets) shedAll(shed func(*target) []deferral) {
	t.mu.Lock() // held to the end, as in refill
	defer t.mu.Unlock()
	for _, g := range t.byName {
		for _, d := range shed(g) {
			t.putOff(d)
		}
	}
}

// shed takes all but the first keep runs out of the queue. turn is when the
// i-th may be tried again.
func (g *target) shed(keep int, why delay, turn func(i int) time.Time) []deferral {
	if len(g.queue) <= keep {
		return nil
	}
	out := make([]deferral, 0, len(g.queue)-keep)
	for i, r := range g.queue[keep:] {
		out = append(out, deferral{r, turn(keep + i), why, g.rule})
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
