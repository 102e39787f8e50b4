package printer

import (
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Queue prints or logs records in the background, because the worker must not wait for a terminal. It drops and
// counts the records that a slow terminal cannot keep up with.
type Queue struct {
	// Widen makes room for a name, before the first record is taken.
	Widen func(job string)

	wanted  func(*scheduler.Record) bool
	print   func(*scheduler.Record)
	lost    func(n int64) // reports that n records were left out
	rest    func()        // reports the suppressed failures every ten seconds; nil: never
	records chan *scheduler.Record
	dropped atomic.Int64
	ended   chan struct{}
}

// restEvery is the interval between two reports of suppressed failures.
const restEvery = 10 * time.Second

// queueLength is how many records may wait to be printed.
const queueLength = 1 << 14

// NewQueue returns a queue that prints until it is ended.
func NewQueue(t *terminal.Terminal) *Queue {
	p := New(t, terminal.Clock)
	q := &Queue{
		Widen:  p.Widen,
		wanted: func(*scheduler.Record) bool { return true },
		print: func(r *scheduler.Record) {
			shown := &client.Record{}
			if json.Unmarshal(v1.JSON(v1.Record(r)), shown) == nil { // the API's view
				p.Print(shown)
			}
		},
		lost: func(n int64) {
			lines := terminal.Plural(int(n), "line was", "lines were")
			t.Complain("hint", lines+` left out here; "carillon history" has them`)
		},
	}
	return q.start()
}

// NewLog returns a queue that logs until it is ended: failures at warn, one line for each target and cause in ten seconds, and
// everything else at info while a person watches, at debug otherwise.
func NewLog(log *slog.Logger, watched bool) *Queue {
	l := recordLog{log, watched, map[cause]*flow.RateLimitedLog{}}
	q := &Queue{
		Widen:  func(string) {}, // logs have no columns
		wanted: l.wants, print: l.print, rest: l.rest,
		lost: func(n int64) { log.Warn("the log omits records; the history has them", "count", n) },
	}
	return q.start()
}

func (q *Queue) start() *Queue {
	q.records, q.ended = make(chan *scheduler.Record, queueLength), make(chan struct{})
	go q.run()
	return q
}

func (q *Queue) run() {
	defer close(q.ended)
	tick := time.NewTicker(restEvery)
	defer tick.Stop()
	for {
		select {
		case r, ok := <-q.records:
			if !ok {
				return
			}
			q.print(r)
		case <-tick.C:
			if q.rest != nil {
				q.rest()
			}
		}
		if n := q.dropped.Swap(0); n > 0 {
			q.lost(n)
		}
	}
}

// Take takes a record.
func (q *Queue) Take(r *scheduler.Record) {
	if !q.wanted(r) {
		return
	}
	select {
	case q.records <- r:
	default:
		q.dropped.Add(1)
	}
}

// End prints the queued records. Add nothing afterwards.
func (q *Queue) End() {
	close(q.records)
	<-q.ended
}
