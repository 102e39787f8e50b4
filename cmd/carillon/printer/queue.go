package printer

import (
	"encoding/json"
	"sync/atomic"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Queue prints records beside the work that makes them, which must not wait for
// a terminal. What a slow one cannot take is left out, and counted.
type Queue struct {
	printer *Printer
	records chan *scheduler.Record
	dropped atomic.Int64
	ended   chan struct{}
}

// queueLength is how many records may wait to be printed.
const queueLength = 1 << 14

// NewQueue returns a queue that prints until it is ended.
func NewQueue(t *terminal.Terminal) *Queue {
	q := &Queue{New(t, terminal.Clock), make(chan *scheduler.Record, queueLength), atomic.Int64{}, make(chan struct{})}
	go q.run()
	return q
}

func (q *Queue) run() {
	defer close(q.ended)
	for r := range q.records {
		shown := &client.Record{}
		if json.Unmarshal(view.JSON(view.Record(r)), shown) == nil { // it is what the API shows
			q.printer.Print(shown)
		}
		if n := q.dropped.Swap(0); n > 0 {
			lines := terminal.Plural(int(n), "line was", "lines were")
			q.printer.t.Complain("hint", lines+` left out here; "carillon history" has them`)
		}
	}
}

// Take takes a record.
func (q *Queue) Take(r *scheduler.Record) {
	select {
	case q.records <- r:
	default:
		q.dropped.Add(1)
	}
}

// End prints what waits. Nothing may be taken any more.
func (q *Queue) End() {
	close(q.records)
	<-q.ended
}

// Widen makes room for a name, before the first record is taken.
func (q *Queue) Widen(job string) { q.printer.Widen(job) }
