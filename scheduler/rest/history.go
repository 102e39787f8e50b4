package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// history answers with a page of the records of a job, a collection or of all, or
// follows them.
func (a *api) history(w http.ResponseWriter, r *http.Request) error {
	q, err := historyQuery(r)
	if err != nil {
		return err
	}
	follow, err := flag(r, "follow")
	if err != nil {
		return err
	}
	if follow {
		return a.follow(w, r, q)
	}
	if r.URL.Query().Has("after") {
		return scheduler.Invalid("after", "is where a live tail begins: it goes with follow=true")
	}
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	if page.Before, err = view.ReadHistoryToken(r.URL.Query().Get("$skiptoken")); err != nil {
		return err
	}
	records, before, err := a.service.History(r.Context(), q, page)
	if err != nil {
		return err
	}
	next := ""
	if before > 0 {
		next = linkAfter(r, view.HistoryToken(before), 0)
	}
	return answer(w, http.StatusOK, view.ListOf(records, view.Record, next))
}

// historyQuery reads which records are asked for.
func historyQuery(r *http.Request) (q service.HistoryQuery, err error) {
	if q.RecordFilter, err = view.HistoryFilter(r.URL.Query().Get("$filter"), time.Now()); err != nil {
		return q, err
	}
	q.Key, q.UID, q.Sees = key(r), r.URL.Query().Get("uid"), access.Sees(r.Context())
	q.Earlier, err = flag(r, "earlier")
	return q, err
}

// sequenceHeader says after which record a live tail begins.
const sequenceHeader = "Carillon-Sequence"

// follow sends the records that are asked for, after a sequence or from now on,
// until the client goes, or the job is deleted.
func (a *api) follow(w http.ResponseWriter, r *http.Request, q service.HistoryQuery) error {
	if err := checkOptions(r.URL.RawQuery, tailOptions); err != nil {
		return err
	}
	var after *uint64
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := view.ReadSequence("after", text)
		if err != nil {
			return err
		}
		after = &n
	}
	end, err := a.tails.begin(r)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t := &tail{to: w, control: http.NewResponseController(w), failed: cancel}
	defer t.close()
	err = a.service.Follow(ctx, q, after, t.open, t.send)
	if t.isOpen() && errors.Is(err, scheduler.ErrNotFound) {
		t.end(err)
		return nil
	}
	if t.isOpen() && err != nil {
		a.log.Warn("a live tail was cut off", "path", r.URL.Path, "err", err)
		return nil // its client comes again
	}
	return err
}

// tail is a live tail. It is written to from the store's goroutine, and closed
// from the request's.
type tail struct {
	to      http.ResponseWriter
	control *http.ResponseController
	failed  func() // the client is gone, or as good as gone

	mu     sync.Mutex
	opened bool
	closed bool
	life   *time.Timer
}

// tailPatience is how long a client may take no data.
const tailPatience = 10 * time.Second

// signOfLife is how often a client gets an empty line while nothing happens: it
// tells a quiet history from a dead connection.
const signOfLife = 15 * time.Second

// open sends the header: what is recorded after a sequence will be sent.
func (t *tail) open(after uint64) {
	t.to.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	t.to.Header().Set("Cache-Control", "no-store")
	t.to.Header().Set(sequenceHeader, strconv.FormatUint(after, 10))
	t.mu.Lock()
	t.opened = true
	t.life = time.AfterFunc(signOfLife, t.live)
	t.mu.Unlock()
	t.write(nil)
}

// live sends a sign of life, again and again until the tail is closed.
func (t *tail) live() {
	t.write([]byte("\n"))
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.life.Reset(signOfLife)
	}
}

func (t *tail) isOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened
}

func (t *tail) send(rec *scheduler.Record) { t.write(append(view.JSON(view.Record(rec)), '\n')) }

// end sends a last line: nothing more can come.
func (t *tail) end(why error) { t.write(append(view.JSON(view.Ending(why)), '\n')) }

func (t *tail) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(tailPatience)) // where there is no connection, there is no need
	_, err := t.to.Write(p)                                      //nolint:gosec // JSON, and it says so
	if err == nil {
		err = t.control.Flush()
	}
	_ = t.control.SetWriteDeadline(time.Time{})
	if err != nil {
		t.closed = true
		t.failed()
	}
}

// close ends the writing: the request's goroutine is about to return.
func (t *tail) close() {
	t.mu.Lock()
	t.closed = true
	if t.life != nil {
		t.life.Stop()
	}
	t.mu.Unlock()
}
