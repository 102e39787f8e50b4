package scheduler

import (
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// properties reads the members of the properties object. The caller calls
// o.Done, as the object may hold members of an envelope too.
func (r *Reading) properties(o *document.Object) *Definition {
	d := &Definition{Overlap: OverlapSkip, Timeout: DefaultTimeout}
	r.warnings, r.raised, r.errorActionsRead = nil, nil, 0
	o.Ignore("status") // read-only: a document that was fetched may be put back as it is
	if v, ok := o.Value("state"); ok && State(strings.ToLower(v.Text())).Final() {
		o.Problem("state", "%q is set by the scheduler; enabled and disabled may be asked for", v.Text())
	} else if s, ok := o.Enum("state", string(Enabled), string(Disabled)); ok {
		d.State = State(s)
	}
	d.readPause(o, r)
	d.readData(o)
	d.readTiming(o, r)
	d.readAction(o, r)
	d.readPolicies(o)
	d.readNotes(o)
	for _, w := range o.Reader().Warnings {
		r.warnings = append(r.warnings, spec.Warning{Path: w.Path, Message: w.Message})
	}
	d.warnings, d.raised, d.minimum = r.warnings, r.raised, r.minRetryInterval()
	return d
}

// readPause reads until when the job is paused. Null ends a pause, as only what is not named stays.
func (d *Definition) readPause(o *document.Object, r *Reading) {
	until, ok := o.Time("pausedUntil")
	if !ok && !o.Null("pausedUntil") {
		return
	}
	d.PausedUntil = &until
	if until.Year() > 9999 { // by its offset
		o.Problem("pausedUntil", "is after the year 9999 in UTC, and there is none")
	}
	if ok && !r.Now.IsZero() && !until.After(r.Now) {
		r.warn(o, "pausedUntil", "has passed: it is without effect")
	}
}

// readTiming reads when the job runs. What only shows when the text of a
// schedule is compiled is reported here, where its path is known; a stored
// definition is compiled once, as a job.
func (d *Definition) readTiming(o *document.Object, r *Reading) {
	d.Timing = spec.ReadTiming(o)
	if d.Timing.Start.IsZero() && o.Has("startTime") {
		r.warn(o, "startTime", "is the zero of .NET, which stands for none: the job has no startTime")
	}
	recurrence := d.Timing.Recurrence
	if recurrence == nil || r.stored {
		return
	}
	if !recurrence.End.IsZero() && recurrence.End.Before(d.Timing.Start) {
		o.Problem("recurrence.endTime", "is before startTime")
	}
	if recurrence.Rule == nil {
		return
	}
	plan, err := d.planFor(r.Key, r.UID, r.Now)
	for _, p := range ProblemsIn(err) {
		o.Report(p)
	}
	if err == nil {
		d.plan = plan
	}
}

// readData reads the values that the actions' templates may use, and the schema of those that a run may give.
func (d *Definition) readData(o *document.Object) {
	if _, ok := o.Object("data"); ok {
		d.Data, _ = o.Value("data")
		o.Reader().Data = d.Data
	}
	if _, ok := o.Object("input"); ok {
		d.Input, _ = o.Value("input")
		o.Reader().Input = d.Input
		if !o.Reader().Stored {
			_, err := compileInput(d.Input)
			reportSchema(o.Reader(), o.Path("input"), err)
		}
	}
}

func (d *Definition) readAction(o *document.Object, r *Reading) {
	if !o.Require("action") {
		return
	}
	ao, ok := o.Object("action")
	if !ok {
		return
	}
	d.Action = r.action(ao, r.defaultRetryPolicy(), mainPath)
	ao.Done()
}

// CheckPolicies reads jitter, timeout, lateAfter, overlap and catchUp of a job's properties, for callers that do not read
// the rest. It reports problems to the object's reader.
func CheckPolicies(o *document.Object) { new(Definition).readPolicies(o) }

func (d *Definition) readPolicies(o *document.Object) {
	if v, ok := o.ExactDuration("jitter", 0, 24*time.Hour); ok {
		d.Jitter = v
	}
	if v, ok := o.ExactDuration("timeout", MinTimeout, MaxTimeout); ok {
		d.Timeout = v
	}
	d.LateAfter, _ = o.ExactDuration("lateAfter", time.Second, maxWindow)
	if v, ok := o.Enum("overlap", string(OverlapSkip), string(OverlapAllow)); ok {
		d.Overlap = Overlap(v)
	}
	d.CatchUp = CatchUp{CatchUpOnce, DefaultCatchUpWindow}
	if d.Timing.Recurrence == nil {
		d.CatchUp.Window = unlimitedWindow
	}
	co, ok := o.Object("catchUp")
	if !ok {
		return
	}
	if v, ok := co.Enum("policy", string(CatchUpOnce), string(CatchUpAll), string(CatchUpSkip)); ok {
		d.CatchUp.Policy = CatchUpPolicy(v)
	}
	if v, ok := co.ExactDuration("window", time.Second, maxWindow); ok {
		d.CatchUp.Window = v
	}
	co.Done()
}

// MaxDescription is the length in bytes of the longest description.
const MaxDescription = 1024

// The limits of labels.
const (
	maxLabels      = 64
	maxLabelLength = 256
)

func (d *Definition) readNotes(o *document.Object) {
	d.Labels = readLabels(o)
	if text, ok := o.String("description"); ok {
		if len(text) > MaxDescription {
			o.Problem("description", "is %d bytes long, at most %d are allowed", len(text), MaxDescription)
		}
		d.Description = text
	}
}

func readLabels(o *document.Object) map[string]string {
	labels, _ := o.StringMap("labels")
	if len(labels) > maxLabels {
		o.Problem("labels", "has %d fields, at most %d are allowed", len(labels), maxLabels)
	}
	for name, value := range labels {
		if name == "" || len(name) > maxLabelLength || len(value) > maxLabelLength {
			o.Problem("labels", "label %q: names must not be empty, names and values at most %d bytes", name, maxLabelLength)
		}
	}
	return labels
}
