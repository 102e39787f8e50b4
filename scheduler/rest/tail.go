package rest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/dispatch"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// follow sends a live tail until the client disconnects or the history ends.
func (a *server) follow(w http.ResponseWriter, r *http.Request, asked *dispatch.Request, form *tailForm) error {
	end, err := a.tails.begin(r)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	asked.Beyond = form.beyond
	return dispatch.Follow(ctx, a.Service, asked, &tail{
		form: form, asked: asked.After(), to: w, control: http.NewResponseController(w), failed: cancel,
		log: a.Logger.With("path", r.URL.Path),
	})
}

// tail writes a live tail. It is a [dispatch.Form].
type tail struct {
	form    *tailForm
	asked   *uint64
	to      http.ResponseWriter
	control *http.ResponseController
	failed  func() // the client has disconnected or does not read
	log     *slog.Logger

	broken bool // a write failed
}

// Begin sends the header.
func (t *tail) Begin(b control.Beginning) {
	t.form.head(t.to.Header(), b)
	t.write(t.form.begin(t.asked, b))
}

// Record sends a record.
func (t *tail) Record(sequence uint64, document []byte) { t.write(t.form.record(sequence, document)) }

// Life sends a keepalive.
func (t *tail) Life(passed uint64) { t.write(t.form.life(passed)) }

// End reports the end of the history. After any other end, the client reconnects.
func (t *tail) End(_ uint64, why error) {
	switch {
	case errors.Is(why, scheduler.ErrNotFound):
		t.write(t.form.end(why))
	case why != nil:
		t.log.Warn("a live tail was cut off", "err", why)
	}
}

// tailPatience is how long a client may read nothing.
const tailPatience = 10 * time.Second

func (t *tail) write(p []byte) {
	if t.broken {
		return
	}
	_ = t.control.SetWriteDeadline(time.Now().Add(tailPatience)) // a writer without a connection needs no deadline
	_, err := t.to.Write(p)
	if err == nil {
		err = t.control.Flush()
	}
	_ = t.control.SetWriteDeadline(time.Time{})
	if err != nil {
		t.broken = true
		t.failed()
	}
}
