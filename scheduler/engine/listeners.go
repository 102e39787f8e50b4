package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// listeners indexes jobs by what they listen to. While a watch starts, it reports all of them into a second table, which
// then replaces the first. The zero value is empty.
type listeners struct {
	mu     sync.Mutex
	table  listenerTable
	next   *listenerTable // of the watch that starts; nil while one is live
	recent []recentEvent  // events that were matched, oldest first

	known   bool       // a watch reports every change of all listeners
	records func(bool) // begins or ends the delivery of records, and does not block

	late  matchLate                   // nil without a watch
	edits map[scheduler.Key]time.Time // when edits of jobs were announced, for recentAge or longer
	aged  time.Time                   // when edits was tidied up

	follows bool        // a job follows another one, or did so within linger
	leaving *time.Timer // ends follows; nil while a job follows another one
}

type listenerTable struct {
	heard  map[scheduler.Key]scheduler.Heard
	topics map[scheduler.Topic]audience
	jobs   map[scheduler.Key][]scheduler.Key

	starters int // jobs that name others in onSuccess or onFailure, as their records do
}

// recentEvent is an event of the last moments.
type recentEvent struct {
	topic    scheduler.Topic
	upstream scheduler.Key
	starts   []scheduler.Key // the jobs that the upstream job names
	sequence uint64
	time     time.Time
}

// matchLate begins to match events for a job, and does not block. They were matched before it was known that the job
// listens to them, or that it was edited.
type matchLate func(k scheduler.Key, events []recentEvent, edited bool)

// Limits of the remembered events. The announcement of a listener takes a second at most, unless the watch is lost; then
// no events are matched.
const (
	recentAge  = 5 * time.Second
	recentMost = 1 << 16
	clockError = 100 * time.Millisecond // of the store's clock, at most
)

// linger is how long records are delivered after no job follows another one any more: attempts that began before still
// start runs.
const linger = scheduler.MaxTimeout + time.Minute

// begin prepares for a watch, which reports all listeners.
func (l *listeners) begin(late matchLate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = late
	l.next = &listenerTable{
		heard: map[scheduler.Key]scheduler.Heard{}, topics: map[scheduler.Topic]audience{}, jobs: map[scheduler.Key][]scheduler.Key{},
	}
}

// ready lets events be matched, also those that jobs missed.
func (l *listeners) ready() {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.table
	l.table, l.next = *l.next, nil
	for k, heard := range l.table.heard {
		before := old.heard[k]
		l.again(k, false, func(e *recentEvent) bool { return e.newTo(&heard, &before) })
	}
	l.known = true
	l.chain()
}

// chain lets records be delivered while a job follows another one, and for a time afterwards. The caller holds the lock.
func (l *listeners) chain() {
	switch chained := l.table.chained(); {
	case chained && l.leaving != nil:
		l.leaving.Stop()
		l.leaving = nil
	case !chained && l.follows && l.leaving == nil:
		l.leaving = time.AfterFunc(linger, l.leave)
	}
	l.follows = l.follows || l.table.chained()
	l.records(l.follows)
}

// leave ends the delivery of records, unless a job follows another one again.
func (l *listeners) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follows, l.leaving = l.table.chained(), nil
	if l.known {
		l.chain()
	}
}

// unchained reports whether it is known that no job follows another one, and did so within linger.
func (l *listeners) unchained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known && !l.follows
}

// chained reports whether a job follows another one.
func (t *listenerTable) chained() bool { return len(t.jobs)+t.starters > 0 }

// lose ends the delivery of records until the next watch is ready.
func (l *listeners) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.late = false, nil
	l.records(false)
}

// set replaces the listeners of a job; nil data: none.
func (l *listeners) set(name string, data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var k scheduler.Key
	var heard scheduler.Heard
	if k.UnmarshalText([]byte(name)) != nil || data != nil && json.Unmarshal(data, &heard) != nil {
		return
	}
	if l.next != nil {
		l.next.set(k, heard)
		return
	}
	old := l.table.heard[k]
	l.table.set(k, heard)
	l.chain()
	l.again(k, false, func(e *recentEvent) bool { return e.newTo(&heard, &old) })
}

// again begins to match the remembered events that a job missed. The caller holds the lock.
func (l *listeners) again(k scheduler.Key, edited bool, missed func(*recentEvent) bool) {
	var events []recentEvent
	for i := range l.recent {
		if missed(&l.recent[i]) {
			events = append(events, l.recent[i])
		}
	}
	if events != nil {
		l.late(k, events, edited)
	}
}

// edited has the remembered events of a job matched late, because the definition before the edit, which is announced now,
// may have ignored them.
func (l *listeners) edited(k scheduler.Key, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.table.heard[k]
	if l.late == nil || heard.IsEmpty() && l.table.starters == 0 {
		return
	}
	if now.Sub(l.aged) > recentAge {
		maps.DeleteFunc(l.edits, func(_ scheduler.Key, at time.Time) bool { return now.Sub(at) > recentAge })
		l.aged = now
	}
	if l.edits == nil {
		l.edits = map[scheduler.Key]time.Time{}
	}
	l.edits[k] = now.Add(clockError)
	l.again(k, true, func(e *recentEvent) bool {
		return e.time.Before(l.edits[k]) && (e.newTo(&heard, &scheduler.Heard{}) || slices.Contains(e.starts, k))
	})
}

// rematched reports whether an event may have been matched late for a job after an edit.
func (l *listeners) rematched(k scheduler.Key, e *scheduler.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return e.Time.Before(l.edits[k])
}

// newTo reports whether heard may select e, and old did not.
func (e *recentEvent) newTo(heard, old *scheduler.Heard) bool {
	return slices.Contains(heard.Jobs, e.upstream) && !slices.Contains(old.Jobs, e.upstream) ||
		slices.ContainsFunc(heard.Events, func(s scheduler.Selection) bool {
			return s.Topic == e.topic && !slices.Contains(old.Events, s)
		})
}

func (t *listenerTable) set(k scheduler.Key, heard scheduler.Heard) {
	old := t.heard[k]
	for _, topic := range old.Topics() {
		t.topics[topic].remove(k, old.Need(topic))
		if len(t.topics[topic]) == 0 {
			delete(t.topics, topic)
		}
	}
	for _, job := range old.Jobs {
		remove(t.jobs, job, k)
	}
	delete(t.heard, k)
	t.starters += min(1, len(heard.Starts)) - min(1, len(old.Starts))
	if heard.IsEmpty() {
		return
	}
	t.heard[k] = heard
	for _, topic := range heard.Topics() {
		if t.topics[topic] == nil {
			t.topics[topic] = audience{}
		}
		t.topics[topic].add(k, heard.Need(topic))
	}
	for _, job := range heard.Jobs {
		t.jobs[job] = append(t.jobs[job], k)
	}
}

// remove removes a job from a list in m. Lists that were returned stay unchanged.
func remove[K comparable](m map[K][]scheduler.Key, of K, k scheduler.Key) {
	list := slices.DeleteFunc(slices.Clone(m[of]), func(other scheduler.Key) bool { return other == k })
	if m[of] = list; len(list) == 0 {
		delete(m, of)
	}
}

// of returns the jobs that an event may affect, and remembers the event; false while not all listeners are known.
func (l *listeners) of(e *scheduler.Event) ([]scheduler.Key, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return nil, false
	}
	old := 0
	for old < len(l.recent) && (e.Time.Sub(l.recent[old].time) > recentAge || len(l.recent)-old >= recentMost) {
		old++
	}
	one := recentEvent{topic: e.Topic, sequence: e.Sequence, time: e.Time}
	if e.Upstream != nil {
		one.upstream, one.starts = e.Upstream.Job, e.Upstream.Starts
	}
	l.recent = append(l.recent[old:], one)
	if e.Upstream != nil {
		keys := l.table.jobs[e.Upstream.Job]
		for _, k := range e.Upstream.Starts {
			if !slices.Contains(keys, k) {
				keys = append(slices.Clip(keys), k)
			}
		}
		return keys, true
	}
	return l.table.topics[e.Topic].find(e), true
}

// audience are the jobs that listen to a topic, by the field that their filters compare with a constant, and the
// constant. So an event is evaluated only for the jobs that need its value. Jobs without a need are under "".
type audience map[string]map[any][]scheduler.Key

func (a audience) add(k scheduler.Key, n expression.Need) {
	if a[n.Field] == nil {
		a[n.Field] = map[any][]scheduler.Key{}
	}
	a[n.Field][n.Value] = append(a[n.Field][n.Value], k)
}

func (a audience) remove(k scheduler.Key, n expression.Need) {
	remove(a[n.Field], n.Value, k)
	if len(a[n.Field]) == 0 {
		delete(a, n.Field)
	}
}

// find returns the jobs that e may affect. An event without a field is for all jobs that need one of its values: their
// filters cannot be evaluated.
func (a audience) find(e *scheduler.Event) []scheduler.Key {
	found := a[""][nil]
	if len(a) == 0 || len(a) == 1 && found != nil {
		return found
	}
	found, in := slices.Clone(found), e.Input(nil)
	for field, jobs := range a {
		if field == "" {
			continue
		}
		if value, ok := in.Constant(field); ok {
			found = append(found, jobs[value]...)
			continue
		}
		for _, keys := range jobs {
			found = append(found, keys...)
		}
	}
	return found
}
