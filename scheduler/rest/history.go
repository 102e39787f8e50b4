package rest

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// jobHistory answers with a page of a job's records, or follows them.
func (a *api) jobHistory(w http.ResponseWriter, r *http.Request) error {
	outcomes, err := view.HistoryFilter(r.URL.Query().Get("$filter"))
	if err != nil {
		return err
	}
	page, err := pageOf(r)
	if err != nil {
		return err
	}
	follow, err := flag(r, "follow")
	if err != nil {
		return err
	}
	if follow {
		if _, err := a.service.Get(r.Context(), key(r)); err != nil {
			return err
		}
		return a.follow(w, r, outcomes)
	}
	records, more, err := a.service.History(r.Context(), key(r), outcomes, page)
	if err != nil {
		return err
	}
	next := ""
	if more {
		next = linkBehind(r, page, len(records))
	}
	return answer(w, http.StatusOK, view.ListOf(records, view.Record, next))
}

// followOnly follows the records of a collection, or of all.
func (a *api) followOnly(w http.ResponseWriter, r *http.Request) error {
	outcomes, err := view.HistoryFilter(r.URL.Query().Get("$filter"))
	if err != nil {
		return err
	}
	follow, err := flag(r, "follow")
	if err != nil {
		return err
	}
	if !follow {
		return scheduler.Invalid("follow", "must be true here; the records of a job are at …/jobCollections/{c}/jobs/{j}/history")
	}
	if c := r.PathValue("c"); c != "" {
		if _, err := a.service.Collection(r.Context(), c); err != nil {
			return err
		}
	}
	return a.follow(w, r, outcomes)
}

// follow sends the records that the path names from now on, until the client
// goes.
func (a *api) follow(w http.ResponseWriter, r *http.Request, outcomes []scheduler.Outcome) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	t := &tail{to: w, control: http.NewResponseController(w), failed: cancel}
	defer t.close()
	return a.service.Follow(ctx, key(r), t.open, func(rec *scheduler.Record) {
		if len(outcomes) == 0 || slices.Contains(outcomes, rec.Outcome) {
			t.send(rec)
		}
	})
}

// tail is a live tail. It is written to from the store's goroutine, and closed
// from the request's.
type tail struct {
	to      http.ResponseWriter
	control *http.ResponseController
	failed  func() // the client is gone, or as good as gone

	mu     sync.Mutex
	closed bool
}

// tailPatience is how long a client may take no data.
const tailPatience = 10 * time.Second

// open sends the header: what is recorded from now on will be sent.
func (t *tail) open() {
	t.to.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	t.to.Header().Set("Cache-Control", "no-store")
	t.write(nil)
}

func (t *tail) send(rec *scheduler.Record) { t.write(append(view.JSON(view.Record(rec)), '\n')) }

func (t *tail) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(tailPatience)) // where there is no connection, there is no need
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

// close ends the writing: the request's goroutine is about to return.
func (t *tail) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
}
