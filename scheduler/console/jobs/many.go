package jobs

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/why"
)

// samples is how many jobs a confirmation names.
const samples = 10

// ask takes what somebody wants to be done to many jobs, and leads to its confirmation.
func (r room) ask(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	o := &operation{owner: ownerOf(c.Who), Do: form.Get("do")}
	f := readFilter(form)
	if o.Do == label && form.Get("tag") == "" && form.Get("until") != "" { // Enter there is the first button of the form
		o.Do = pause
	}
	switch o.Do {
	case enable, disable, run, remove:
	case label, unlabel:
		name, value, _ := strings.Cut(strings.TrimSpace(form.Get("tag")), "=")
		if o.Label = (scheduler.Label{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)}); o.Label.Name == "" {
			c.Note(c.Say("jobs.tag.missing"))
			return c.Redirect(f.address())
		}
	case pause:
		o.Until = strings.TrimSpace(form.Get("until"))
		if _, err := why.ParseFuture(o.Until, c.Zone(), r.service.Now()); err != nil { // each job's own clock decides
			c.Note(c.Say("jobs.until.wrong", err.Error()))
			return c.Redirect(f.address())
		}
	default:
		return unknown(c, o.Do)
	}
	if err := r.pick(c, o, f, form); err != nil {
		return err
	}
	if o.Count == 0 {
		c.Note(c.Say("jobs.pick.none"))
		return c.Redirect(f.address())
	}
	r.operations.add(o)
	return c.Redirect(manyPath + "/" + o.ID)
}

// pick notes which jobs an operation is about.
func (r room) pick(c *frame.Call, o *operation, f filter, form url.Values) error {
	if form.Get("all") == "" {
		if len(form["job"]) > maxPicked { // before each is compared with the others
			return frame.Problem{Status: http.StatusBadRequest, Text: c.Say("jobs.toomany", maxPicked)}
		}
		for _, text := range form["job"] {
			k, ok := readKey(text)
			if !ok {
				return unknown(c, text)
			}
			if !slices.Contains(o.Keys, k) {
				o.Keys = append(o.Keys, k)
			}
		}
		o.Count = len(o.Keys)
		return nil
	}
	q, err := f.query(c, r.service.Now())
	if err != nil {
		return err
	}
	q.WithOutcome = false
	page, err := r.service.Browse(c.Context(), q, "", false, 1)
	if err != nil {
		return err
	}
	q.Sees = nil // of who it is that has it carried out
	o.Query, o.Count = &q, page.Count
	return nil
}

// maxPicked is how many jobs are picked one by one at most.
const maxPicked = 1000

// operation returns the one that a request is about.
func (r room) operation(c *frame.Call) (*operation, error) {
	id := c.Request.PathValue("id")
	o := r.operations.get(id, ownerOf(c.Who))
	if o == nil && !r.operations.own(id) {
		return nil, frame.Problem{Status: http.StatusNotFound, Text: c.Say("jobs.many.elsewhere"), Hint: c.Say("jobs.many.elsewhere.hint")}
	}
	if o == nil {
		return nil, frame.Problem{Status: http.StatusNotFound, Text: c.Say("jobs.many.unknown"), Hint: c.Say("jobs.many.unknown.hint")}
	}
	return o, nil
}

// showMany shows an operation: its confirmation, its progress, or its end.
func (r room) showMany(c *frame.Call) error {
	o, err := r.operation(c)
	if err != nil {
		return err
	}
	return r.show(c, o, false)
}

func (r room) show(c *frame.Call, o *operation, wrong bool) error {
	p := o.progress()
	p.Wrong = wrong
	if p.Began.IsZero() {
		if err := r.sample(c, o, &p); err != nil {
			return err
		}
	}
	page := &frame.Page{
		Title: c.Say("jobs.do." + p.Do), Template: manyPage, Data: p, NoHeading: true,
		Styles: []string{"jobs/jobs.css"},
	}
	if wrong {
		page.Status = http.StatusUnprocessableEntity
	}
	return c.Show(page)
}

// sample names some of the jobs that an operation is about.
func (r room) sample(c *frame.Call, o *operation, p *progress) error {
	if o.Query == nil {
		p.Samples = o.Keys[:min(len(o.Keys), samples)]
		for _, k := range o.Keys {
			if !c.May(access.Operate, k.Collection) {
				p.MayNot++
			}
		}
		p.Others = len(o.Keys) - len(p.Samples)
		return nil
	}
	q := *o.Query
	q.Sees = access.Sees(c.Context())
	page, err := r.service.Browse(c.Context(), q, "", false, samples)
	if errors.Is(err, scheduler.ErrUnavailable) {
		return nil // the confirmation does without
	}
	if err != nil {
		return err
	}
	for _, v := range page.Jobs {
		p.Samples = append(p.Samples, v.Job.Key)
	}
	p.Others = max(0, o.Count-len(p.Samples))
	return nil
}

// start begins an operation that was confirmed, unless that was done before.
func (r room) start(c *frame.Call) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	o, err := r.operation(c)
	if err != nil {
		return err
	}
	if o.Do == remove {
		typed := strings.TrimSpace(form.Get("typed"))
		if typed != strconv.Itoa(o.Count) && !strings.EqualFold(typed, c.Say("jobs.confirm.word")) {
			return r.show(c, o, true)
		}
	}
	if o.confirmed().IsZero() && r.operations.busy(o.owner) {
		return frame.Problem{
			Status: http.StatusTooManyRequests, Text: c.Say("jobs.many.running", runningMost), Hint: c.Say("jobs.many.running.hint"),
		}
	}
	ctx, end := c.Background(access.OperateAny)
	if o.begin(end) {
		go func() {
			defer end()
			r.carry(ctx, c, o)
		}()
	} else {
		end()
	}
	return c.Redirect(manyPath + "/" + o.ID)
}

// stop has an operation leave the rest alone.
func (r room) stop(c *frame.Call) error {
	o, err := r.operation(c)
	if err != nil {
		return err
	}
	o.stop()
	return c.Redirect(manyPath + "/" + o.ID)
}

// followEvery is how often the progress is shown.
const followEvery = 300 * time.Millisecond

// followMany shows the progress as it goes on.
func (r room) followMany(c *frame.Call) error {
	o, err := r.operation(c)
	if err != nil {
		return err
	}
	l := c.Live()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for beat := time.Now(); ; {
		if l.Part("progress", manyPage, "progress", o.progress()) != nil {
			return nil // the browser has gone
		}
		if time.Since(beat) > frame.Beat {
			beat = time.Now()
			if l.StillThere() != nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-c.Context().Done():
			return nil
		}
	}
}
