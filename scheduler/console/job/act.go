package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// operation changes a job as a form asks for, and says so.
type operation func(c *frame.Request, k scheduler.Key, form url.Values) (said string, err error)

// act returns the handler of a form. A script shows the result of do as a message; without a script, the page of the job shows it.
func act(do operation) func(*frame.Request) error {
	return frame.WithForm(func(c *frame.Request, form url.Values) error {
		said, err := do(c, key(c), form)
		if err != nil {
			return err
		}
		if c.Part() {
			return c.Show(&frame.Page{Template: page, Part: "job-done", Data: said})
		}
		return c.Done(said, frame.JobPath(key(c)))
	})
}

func (r section) run(c *frame.Request, k scheduler.Key, form url.Values) (string, error) {
	var body []byte
	if data := form.Get("data"); strings.TrimSpace(data) != "" {
		v, err := document.Parse([]byte(data))
		if err != nil {
			return "", scheduler.Invalid("data", err.Error())
		}
		body = document.ObjectValue(document.Member{Name: "data", Value: v}).JSON()
	}
	_, err := r.service.RunBy(c.Lasting(), k, body, time.Time{})
	return c.Text("job.did.run"), err
}

// turn returns the operation of a button without fields.
func turn(do func(context.Context, scheduler.Key) (*v1.Job, error), did string) operation {
	return func(c *frame.Request, k scheduler.Key, _ url.Values) (string, error) {
		_, err := do(c.Lasting(), k)
		return c.Text("job.did." + did), err
	}
}

// pause pauses the job until a time, from a button or typed.
func (r section) pause(c *frame.Request, k scheduler.Key, form url.Values) (string, error) {
	v, err := r.service.Pause(c.Lasting(), k, cmp.Or(form.Get("until"), form.Get("at")))
	if err != nil {
		return "", err
	}
	return c.Text("job.did.pause", onClock(v.Job.PausedUntil, v.Job)), nil
}

func (r section) resubmit(c *frame.Request, k scheduler.Key, form url.Values) (string, error) {
	_, err := r.service.Resubmit(c.Lasting(), k, chosen(form).JSON())
	return c.Text("job.did.resubmit"), err
}

// cancel cancels one active occurrence or all.
func (r section) cancel(c *frame.Request, k scheduler.Key, form url.Values) (string, error) {
	reason := document.StringValue(strings.TrimSpace(form.Get("reason")))
	v, err := r.service.Cancel(c.Lasting(), k, chosen(form).With(reason, "reason").JSON())
	if err != nil {
		return "", err
	}
	return words.Count("job.did.cancel", len(v.Occurrences)), nil
}

// chosen returns the body of a request about the occurrence of a form.
func chosen(form url.Values) document.Value {
	return document.ObjectValue(document.Member{Name: "occurrence", Value: document.StringValue(form.Get("occurrence"))})
}

// active returns the occurrences of a job that the user can cancel.
func (r section) active(ctx context.Context, c *frame.Request, k scheduler.Key) ([]string, error) {
	if !c.May(auth.Operate, k.Collection) {
		return nil, nil
	}
	v, err := r.service.Cancel(ctx, k, []byte(`{"dryRun": true}`))
	if err != nil {
		return nil, err
	}
	return v.Occurrences, nil
}

// confirmDelete asks for confirmation of a deletion if no script does.
func (r section) confirmDelete(c *frame.Request) error {
	k := key(c)
	_, s, err := r.statusOf(c.Context(), c, k)
	if err != nil {
		return gone(c, err)
	}
	return c.Show(shown(c.Text("job.delete.title", k.Job), "job-delete-page", "", s))
}

// remove deletes the job if it has not changed since it was shown.
func (r section) remove(c *frame.Request, form url.Values) error {
	s := r.service
	if etag := form.Get("etag"); etag != "" {
		when, err := scheduler.ReadCondition([]string{etag}, nil)
		if err != nil {
			return err
		}
		s = s.If(when)
	}
	k := key(c)
	if err := s.Delete(c.Lasting(), k, 0); err != nil {
		return err
	}
	return c.Done(c.Text("job.did.delete", k), root)
}

// The minimum interval of updates, and the interval of checks for changes without a notification: the start of an
// attempt leaves no record.
const (
	tellEvery = 250 * time.Millisecond
	lookTurns = 4 // of these
)

// events updates a page until its reader disconnects or the job is deleted:
//
//	job-status, job-timeline  parts of the page
//	changed                   other parts with records have changed; its id is the sequence of the last record
//	end                       the job was deleted
//
// A reconnecting browser sends the last id it received and is notified of later records. With read=false, the page has no
// past runs yet.
func (r section) events(c *frame.Request) error {
	k := key(c)
	v, s, err := r.statusOf(c.Context(), c, k)
	if errors.Is(err, scheduler.ErrNotFound) {
		return c.Live().End(deleted(c)) // after a reconnect
	}
	if err != nil {
		return err
	}
	after, err := v1.ReadSequence("after", cmp.Or(c.Request.Header.Get("Last-Event-Id"), c.Query("after")))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	f := &following{section: r, call: c, key: k, live: c.Live()}
	f.unread = c.Query("read") == "false" && c.Request.Header.Get("Last-Event-Id") == "" // after a reconnect, the page has them
	ended := make(chan error, 1)
	go func() {
		ended <- r.service.Follow(ctx, control.HistoryQuery{Key: k}, control.Tail{
			After: &after, Beyond: true, Ready: func(control.Beginning) {},
			Record: func(rec *scheduler.Record) { f.recorded.Store(rec.Sequence) },
		})
	}()
	if err := f.status(v, s); err != nil {
		return err
	}
	turn := 0
	return f.live.Every(tellEvery, func() error {
		turn++
		select {
		case err := <-ended:
			return f.over(err)
		default:
		}
		if last := f.recorded.Load(); last != f.announced || f.unread || turn%lookTurns == 0 {
			if err := f.look(ctx, last); err != nil {
				return f.over(err)
			}
		}
		return nil
	})
}

// following is the state of an updated page.
type following struct {
	section section
	call    *frame.Request
	key     scheduler.Key
	live    *frame.Live

	recorded  atomic.Uint64 // sequence of the last received record
	announced uint64        // sequence of the last announced record
	seen      string        // the last sent status
	unread    bool          // the page has no past runs yet
}

// over ends the events after an error. After other errors than a missing job, the browser reconnects and gets the error
// then.
func (f *following) over(err error) error {
	if errors.Is(err, scheduler.ErrNotFound) {
		return errors.Join(f.live.End(deleted(f.call)), frame.ErrOver)
	}
	return frame.ErrOver
}

// deleted is the last event of a deleted job.
func deleted(c *frame.Request) frame.Problem { return frame.Problem{Text: c.Text("job.gone")} }

// look sends the changed parts. last is the sequence of the last record.
func (f *following) look(ctx context.Context, last uint64) error {
	v, s, err := f.section.statusOf(ctx, f.call, f.key)
	if err != nil {
		return err
	}
	before := f.seen
	if err := f.status(v, s); err != nil {
		return err
	}
	if last == f.announced && f.seen == before && !f.unread {
		return nil
	}
	recent, err := f.section.recentOf(ctx, f.key)
	if err != nil {
		return err
	}
	next, err := f.section.nextOf(ctx, f.call, v, nextFew)
	if err != nil {
		return err
	}
	if recent.changes, err = f.section.changesOf(ctx, f.call, f.key); err != nil {
		return err
	}
	drawn, err := f.section.drawn(ctx, f.call, f.key, recent, next)
	if err != nil {
		return err
	}
	if err := f.live.Parts(page, drawn, "job-last", "job-timeline"); err != nil {
		return err
	}
	f.announced, f.unread = last, false
	mark := ""
	if shown := max(last, recent.newest); shown != 0 { // a record may be readable before its notification
		mark = strconv.FormatUint(shown, 10)
	}
	return f.live.Event("changed", mark, "")
}

// status sends the job's status if it has changed. It compares the data, because the rendered distances from now change
// every second.
func (f *following) status(v *v1.Job, s *status) error {
	seen, err := json.Marshal([]any{v.Status, v.Job.State, v.ETag(), s.Is, s.Detached})
	if err != nil || string(seen) == f.seen {
		return err
	}
	f.seen = string(seen)
	return f.live.Parts(page, s, "job-status")
}
