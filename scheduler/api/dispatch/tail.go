package dispatch

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/audit"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// Form is how an interface sends a live tail:
//
//	Begin ──► Record, Life … ──► End
//
// Calls do not overlap. A tail that ends before its begin has no calls.
type Form interface { //nolint:interfacebloat // a method for each message of a tail
	// Begin sends the start. All records after its sequence follow.
	Begin(b control.Beginning)

	// Record sends a record in the form of a page's item.
	Record(sequence uint64, document []byte)

	// Life sends a keepalive. passed is the last record that did not match, if the client does not know it yet; else 0.
	Life(passed uint64)

	// End sends the end. why is [scheduler.ErrNotFound] after the deletion of the job, nil after the end of the context,
	// or another error.
	End(passed uint64, why error)
}

// SignOfLife is the keepalive interval. Keepalives distinguish an idle history from a dead connection.
const SignOfLife = 15 * time.Second

// Follow sends a live tail until ctx is done or the history ends. It returns the error of a tail that has not begun.
func Follow(ctx context.Context, s *control.Service, r *Request, f Form) error {
	t := &tail{form: f}
	if r.Op.Line.Go == reflect.TypeFor[audit.Entry]() {
		return t.end(followAudit(ctx, s, r, t))
	}
	return t.end(followHistory(ctx, s, r, t))
}

func followHistory(ctx context.Context, s *control.Service, r *Request, t *tail) error {
	q, err := historyQuery(ctx, s, r)
	if err != nil {
		return err
	}
	record := func(rec *scheduler.Record) { t.send(rec.Sequence, v1.JSON(v1.Record(rec))) }
	return s.Follow(ctx, q, control.Tail{After: r.After(), Beyond: r.Beyond, Ready: t.begin, Record: record, Passed: t.pass})
}

func followAudit(ctx context.Context, s *control.Service, r *Request, t *tail) error {
	begin := func(after uint64) { t.begin(control.Beginning{After: after}) }
	return s.FollowTrail(ctx, trailQuery(r), r.After(), begin, func(e *audit.Entry) { t.send(e.Sequence, v1.JSON(e)) })
}

// tail orders the calls of a form. The store's goroutine and the request's call it.
type tail struct {
	form Form

	mu     sync.Mutex
	begun  bool
	closed bool
	passed uint64 // the last record that did not match, if nothing was sent since; else 0
	life   *time.Timer
}

func (t *tail) begin(b control.Beginning) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = true
	t.life = time.AfterFunc(SignOfLife, t.live)
	t.form.Begin(b)
}

// live sends keepalives until the tail is closed.
func (t *tail) live() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.form.Life(t.passed)
		t.passed = 0
		t.life.Reset(SignOfLife)
	}
}

// pass stores the sequence of a record that does not match.
func (t *tail) pass(sequence uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = sequence
}

func (t *tail) send(sequence uint64, document []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.passed = 0
		t.form.Record(sequence, document)
	}
}

// end prevents later calls of the form. It returns the error of a tail that has not begun.
func (t *tail) end(why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if !t.begun {
		return why
	}
	t.life.Stop()
	t.form.End(t.passed, why)
	return nil
}
