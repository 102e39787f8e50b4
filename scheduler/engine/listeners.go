package engine

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// listeners indexes jobs by what they listen to. While a watch starts, it reports all of them into a second table, which
// then replaces the first. The zero value is empty.
type listeners struct {
	mu     sync.Mutex
	table  listenerTable
	next   *listenerTable // of the watch that starts; nil while one is live
	state  *listenerState // nil before the first watch
	recent []recentEvent  // events that were matched, oldest first
}

// listenerState is a period between two losses of the watch.
type listenerState struct {
	known  chan struct{} // closed when all listeners are known
	lost   chan struct{} // closed when the watch is lost
	chains *chainState   // of the time since jobs last began or ceased to follow others
}

type chainState struct {
	begun chan struct{} // closed when a job follows another one
	ended chan struct{} // closed when no job does any more
}

func newChainState() *chainState { return &chainState{make(chan struct{}), make(chan struct{})} }

type listenerTable struct {
	heard  map[scheduler.Key]scheduler.Heard
	topics map[scheduler.Topic][]scheduler.Key
	jobs   map[scheduler.Key][]scheduler.Key
}

func newListenerTable() *listenerTable {
	return &listenerTable{map[scheduler.Key]scheduler.Heard{}, map[scheduler.Topic][]scheduler.Key{}, map[scheduler.Key][]scheduler.Key{}}
}

// recentEvent is an event of the last moments.
type recentEvent struct {
	topic    scheduler.Topic
	upstream scheduler.Key
	sequence uint64
	time     time.Time
}

// missedEvents are events that were matched before it was known that a job listens to them.
type missedEvents struct {
	job    scheduler.Key
	events []recentEvent
}

// Limits of the remembered events. The announcement of a listener takes a second at most, unless the watch is lost; then
// no events are matched.
const (
	recentAge  = 5 * time.Second
	recentMost = 1 << 16
)

// begin prepares for a watch, which reports all listeners.
func (l *listeners) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = newListenerTable()
	l.current()
}

// current returns the state. The caller holds the lock.
func (l *listeners) current() *listenerState {
	if l.state == nil {
		l.state = &listenerState{make(chan struct{}), make(chan struct{}), newChainState()}
	}
	return l.state
}

// ready lets events be delivered. It returns those that jobs missed.
func (l *listeners) ready() (missed []missedEvents) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.table
	l.table, l.next = *l.next, nil
	for k, heard := range l.table.heard {
		missed = append(missed, l.missed(k, old.heard[k], heard)...)
	}
	close(l.state.known)
	l.chain()
	return missed
}

// chain lets records be delivered while a job follows another one. The caller holds the lock.
func (l *listeners) chain() {
	begun := false
	select {
	case <-l.state.chains.begun:
		begun = true
	default:
	}
	switch follows := len(l.table.jobs) > 0; {
	case follows && !begun:
		close(l.state.chains.begun)
	case !follows && begun:
		close(l.state.chains.ended)
		l.state.chains = newChainState()
	}
}

// unchained reports whether it is known that no job follows another one.
func (l *listeners) unchained() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next == nil && l.state != nil && len(l.table.jobs) == 0
}

// lose stops deliveries until the next watch is ready.
func (l *listeners) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.current().lost)
	l.state = nil
}

// live waits until all listeners are known. It returns a context that ends when they are lost, nil if ctx is done first.
func (l *listeners) live(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.await(ctx, func(s *listenerState) (begun, ended chan struct{}) { return s.known, nil })
}

// chained is live for the records, which are delivered while a job follows another one.
func (l *listeners) chained(ctx context.Context) (context.Context, context.CancelFunc) {
	return l.await(ctx, func(s *listenerState) (begun, ended chan struct{}) { return s.chains.begun, s.chains.ended })
}

func (l *listeners) await(
	ctx context.Context, which func(*listenerState) (begun, ended chan struct{}),
) (context.Context, context.CancelFunc) {
	for {
		l.mu.Lock()
		state := l.current()
		begun, ended := which(state)
		l.mu.Unlock()
		select {
		case <-begun:
			known, cancel := context.WithCancel(ctx)
			go func() {
				defer cancel()
				select {
				case <-state.lost:
				case <-ended:
				case <-known.Done():
				}
			}()
			return known, cancel
		case <-state.lost:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

// set replaces what a job listens to; nil data: nothing. It returns the events that the job missed.
func (l *listeners) set(name string, data []byte) []missedEvents {
	l.mu.Lock()
	defer l.mu.Unlock()
	var k scheduler.Key
	var heard scheduler.Heard
	if k.UnmarshalText([]byte(name)) != nil || data != nil && json.Unmarshal(data, &heard) != nil {
		return nil
	}
	if l.next != nil {
		l.next.set(k, heard)
		return nil
	}
	old := l.table.heard[k]
	l.table.set(k, heard)
	l.chain()
	return l.missed(k, old, heard)
}

// missed returns the remembered events that a job hears now, and did not hear before. The caller holds the lock.
func (l *listeners) missed(k scheduler.Key, old, heard scheduler.Heard) []missedEvents {
	one := missedEvents{job: k}
	for _, e := range l.recent {
		if e.selectedBy(&heard) && !e.selectedBy(&old) {
			one.events = append(one.events, e)
		}
	}
	if one.events == nil {
		return nil
	}
	return []missedEvents{one}
}

func (e *recentEvent) selectedBy(h *scheduler.Heard) bool {
	return slices.Contains(h.Topics, e.topic) || slices.Contains(h.Jobs, e.upstream)
}

func (t *listenerTable) set(k scheduler.Key, heard scheduler.Heard) {
	old := t.heard[k]
	for _, topic := range old.Topics {
		remove(t.topics, topic, k)
	}
	for _, job := range old.Jobs {
		remove(t.jobs, job, k)
	}
	delete(t.heard, k)
	if heard.IsEmpty() {
		return
	}
	t.heard[k] = heard
	for _, topic := range heard.Topics {
		t.topics[topic] = append(t.topics[topic], k)
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

// of returns the jobs that may listen to an event, and remembers the event; false while not all listeners are known.
func (l *listeners) of(e *scheduler.Event) ([]scheduler.Key, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil || l.state == nil {
		return nil, false
	}
	old := 0
	for old < len(l.recent) && (e.Time.Sub(l.recent[old].time) > recentAge || len(l.recent)-old >= recentMost) {
		old++
	}
	one := recentEvent{topic: e.Topic, sequence: e.Sequence, time: e.Time}
	if e.Upstream != nil {
		one.upstream = e.Upstream.Job
	}
	l.recent = append(l.recent[old:], one)
	if e.Upstream != nil {
		return l.table.jobs[e.Upstream.Job], true
	}
	return l.table.topics[e.Topic], true
}
