package job

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// done answers a successful change: with a message for a script, else with the page of the job.
func done(c *frame.Call, text string) error {
	if c.Part() {
		return c.Show(&frame.Page{Template: page, Part: "job-done", Data: text})
	}
	c.Note(text)
	return c.Redirect(frame.JobPath(key(c)))
}

func (r room) run(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	var body []byte
	if data := form.Get("data"); strings.TrimSpace(data) != "" {
		v, err := document.Parse([]byte(data))
		if err != nil {
			return scheduler.Invalid("data", err.Error())
		}
		body = document.ObjectValue(document.Member{Name: "data", Value: v}).JSON()
	}
	if _, err := r.service.RunBy(c.Lasting(), key(c), body, time.Time{}); err != nil {
		return err
	}
	return done(c, c.Say("job.did.run"))
}

func (r room) enable(c *frame.Call) error {
	if _, err := r.service.Enable(c.Lasting(), key(c)); err != nil {
		return err
	}
	return done(c, c.Say("job.did.enable"))
}

func (r room) disable(c *frame.Call) error {
	if _, err := r.service.Disable(c.Lasting(), key(c)); err != nil {
		return err
	}
	return done(c, c.Say("job.did.disable"))
}

// pause pauses the job until a time, from a button or typed.
func (r room) pause(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	v, err := r.service.Pause(c.Lasting(), key(c), cmp.Or(form.Get("until"), form.Get("at")))
	if err != nil {
		return err
	}
	return done(c, c.Say("job.did.pause", onClock(v.Job.PausedUntil, v.Job)))
}

// resume ends a pause, by enabling the enabled job.
func (r room) resume(c *frame.Call) error {
	if _, err := r.service.Enable(c.Lasting(), key(c)); err != nil {
		return err
	}
	return done(c, c.Say("job.did.resume"))
}

func (r room) resubmit(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"occurrence": form.Get("occurrence")})
	if err != nil {
		return err
	}
	if _, err := r.service.Resubmit(c.Lasting(), key(c), body); err != nil {
		return err
	}
	return done(c, c.Say("job.did.resubmit"))
}

// cancel cancels one active occurrence or all.
func (r room) cancel(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{"occurrence": form.Get("occurrence"), "reason": strings.TrimSpace(form.Get("reason"))})
	if err != nil {
		return err
	}
	v, err := r.service.Cancel(c.Lasting(), key(c), body)
	if err != nil {
		return err
	}
	return done(c, words.Count("job.did.cancel", len(v.Occurrences)))
}

// active returns the occurrences of a job that the user can cancel.
func (r room) active(ctx context.Context, c *frame.Call, k scheduler.Key) ([]string, error) {
	if !c.May(access.Operate, k.Collection) {
		return nil, nil
	}
	v, err := r.service.Cancel(ctx, k, []byte(`{"dryRun": true}`))
	if err != nil {
		return nil, err
	}
	return v.Occurrences, nil
}

// confirmDelete asks for confirmation of a deletion if no script does.
func (r room) confirmDelete(c *frame.Call) error {
	k := key(c)
	_, s, err := r.statusOf(c.Context(), c, k)
	if err != nil {
		return gone(c, err)
	}
	return c.Show(shown(c.Say("job.delete.title", k.Job), "delete", s))
}

// remove deletes the job if it has not changed since it was shown.
func (r room) remove(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
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
	c.Note(c.Say("job.did.delete", k))
	return c.Redirect(root)
}
