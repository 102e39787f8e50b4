package rest

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// follow sends the selected records after a position, or new ones only, until the client disconnects or the job is
// deleted.
func (a *server) follow(w http.ResponseWriter, r *http.Request, q service.HistoryQuery, form *tailForm) error {
	if err := checkOptions(r.URL.RawQuery, api.HistoryTail); err != nil {
		return err
	}
	asked, err := placeOf(r)
	if err != nil {
		return err
	}
	end, err := a.tails.begin(r)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t := &tail{form: form, asked: asked, to: w, control: http.NewResponseController(w), failed: cancel}
	defer t.close()
	err = a.service.Follow(ctx, q, service.Tail{After: asked, Beyond: form.beyond, Ready: t.open, Record: t.send, Passed: t.pass})
	if t.isOpen() && errors.Is(err, scheduler.ErrNotFound) {
		t.write(form.end(err))
		return nil
	}
	if t.isOpen() && err != nil {
		a.log.Warn("a live tail was cut off", "path", r.URL.Path, "err", err)
		return nil // the client reconnects
	}
	return err
}

// tail is a live tail. The store's goroutine writes to it, and the request's closes it.
type tail struct {
	form    *tailForm
	asked   *uint64
	to      http.ResponseWriter
	control *http.ResponseController
	failed  func() // the client has disconnected or does not read

	mu     sync.Mutex
	opened bool
	closed bool
	passed uint64 // the last record that did not match, if no record was sent since; else 0
	life   *time.Timer
}

// tailPatience is how long a client may read nothing.
const tailPatience = 10 * time.Second

// signOfLife is the keepalive interval. Keepalives distinguish an idle history from a dead connection.
const signOfLife = 15 * time.Second

// open sends the header. All records after its sequence follow.
func (t *tail) open(b service.Beginning) {
	t.form.head(t.to.Header(), b)
	t.mu.Lock()
	t.opened = true
	t.life = time.AfterFunc(signOfLife, t.live)
	t.mu.Unlock()
	t.write(t.form.begin(t.asked, b))
}

// live sends keepalives until the tail is closed.
func (t *tail) live() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(t.form.life(t.passed))
	t.passed = 0
	if !t.closed {
		t.life.Reset(signOfLife)
	}
}

func (t *tail) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened
}

func (t *tail) send(rec *scheduler.Record) {
	data := t.form.record(rec)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = 0
	t.put(data)
}

// pass stores the sequence of a record that does not match.
func (t *tail) pass(sequence uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passed = sequence
}

func (t *tail) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.put(p)
}

// put writes while the lock is held.
func (t *tail) put(p []byte) {
	if t.closed {
		return
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(tailPatience)) // a writer without a connection needs no deadline
	_, err := t.to.Write(p)
	if err == nil {
		err = t.control.Flush()
	}
	_ = t.control.SetWriteDeadline(time.Time{})
	if err != nil {
		t.closed = true
		t.failed()
	}
}

// close prevents later writes, because the request's goroutine is about to return.
func (t *tail) close() {
	t.mu.Lock()
	t.closed = true
	if t.life != nil {
		t.life.Stop()
	}
	t.mu.Unlock()
}
