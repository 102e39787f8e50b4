package scheduler

import (
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Definition is what a user writes: the properties of a job document, read,
// validated and compiled.
type Definition struct {
	Timing      spec.Timing // startTime, timeZone, dst and recurrence
	Action      ActionSpec
	State       State         // enabled unless the document says disabled
	Jitter      time.Duration // each occurrence is put off by a fixed share of it; 0: none
	CatchUp     CatchUp
	Overlap     Overlap
	Timeout     time.Duration // per attempt
	Labels      map[string]string
	Description string

	properties document.Value       // canonical, without state and status
	secrets    bool                 // secrets stand in the properties, locked or not
	refs       []document.SecretRef // shared secrets that the properties name
}

// ActionSpec is an action with its retry policy and errorAction.
type ActionSpec struct {
	Type    string // canonical, such as "Http"
	Run     Action
	Retry   RetryPolicy
	OnError *ActionSpec // nil: none; its own OnError is always nil
}

// in returns the action of a phase.
func (s *ActionSpec) in(p Phase) *ActionSpec {
	if p == ErrorPhase && s.OnError != nil {
		return s.OnError
	}
	return s
}

// CatchUp is what happens to occurrences that were missed while no scheduler
// ran, or while the job was not served.
type CatchUp struct {
	Policy CatchUpPolicy
	// Window is how late an occurrence may still start. The default is one
	// hour for a recurring job; a one-shot has no later occurrence to take
	// its place and runs however late.
	Window time.Duration
}

// The defaults and limits of a definition.
const (
	DefaultCatchUpWindow = time.Hour
	DefaultTimeout       = 60 * time.Second
	MinTimeout           = time.Second
	MaxTimeout           = 30 * time.Minute
	MaxJobSize           = 16 << 10 // bytes of a job document (Azure Scheduler's 16 K)
	unlimitedWindow      = 1 << 62
)

// Limits are what a collection, or the process, allows its jobs.
type Limits struct {
	MinRetryInterval time.Duration // 0: 15 s

	stored bool // the definition was accepted once; limits that changed since do not break it
}

func (l Limits) minRetryInterval() time.Duration {
	switch {
	case l.stored:
		return 0
	case l.MinRetryInterval > 0:
		return l.MinRetryInterval
	}
	return DefaultMinRetryInterval
}

// Properties returns the definition as canonical JSON: the members in their
// exact spelling, enum values in the spelling of this API. Secrets are left out.
func (d *Definition) Properties() []byte { return d.properties.JSON() }

// ReadDefinition reads the properties of a job document and compiles them. The
// error matches [ErrInvalid] and holds every problem with its path.
func ReadDefinition(v document.Value, limits Limits, actions ActionReader) (*Definition, error) {
	r := document.NewReader()
	r.Stored = limits.stored
	o := r.Object(v, "")
	d := readProperties(o, limits, actions)
	o.Done()
	if err := r.Err(); err != nil {
		return nil, AsInvalid(err)
	}
	d.keep(r, v)
	return d, nil
}

// keep takes the canonical form of the properties, which v has become by
// having been read with r.
func (d *Definition) keep(r *document.Reader, v document.Value) {
	d.properties = v.Without("state", "status")
	d.secrets, d.refs = r.HasSecrets(), r.SecretRefs()
}

// HasSecrets reports whether secrets stand in the definition itself.
func (d *Definition) HasSecrets() bool { return d.secrets }

// schedule is the canonical text of what decides when the job runs, to tell
// whether an edit changed it.
func (d *Definition) schedule() string {
	return d.properties.Only("startTime", "timeZone", "dst", "recurrence").String()
}

// readProperties reads the members of the properties object. The caller calls
// o.Done, as the object may hold members of an envelope too.
func readProperties(o *document.Object, limits Limits, actions ActionReader) *Definition {
	d := &Definition{State: Enabled, Overlap: OverlapSkip, Timeout: DefaultTimeout}
	o.Ignore("status") // read-only: a document that was fetched may be put back as it is
	if v, ok := o.Value("state"); ok && State(strings.ToLower(v.Text())).Final() {
		o.Problem("state", "%q is set by the scheduler; enabled and disabled may be asked for", v.Text())
	} else if s, ok := o.Enum("state", string(Enabled), string(Disabled)); ok {
		d.State = State(s)
	}
	d.readTiming(o, limits)
	d.readAction(o, limits, actions)
	d.readPolicies(o)
	d.readNotes(o)
	return d
}

// readTiming reads when the job runs. What only shows when the text of a
// schedule is compiled is reported here, where its path is known; a stored
// definition is compiled once, as a job.
func (d *Definition) readTiming(o *document.Object, limits Limits) {
	d.Timing = spec.ReadTiming(o)
	r := d.Timing.Recurrence
	if r == nil || limits.stored {
		return
	}
	if !r.End.IsZero() && r.End.Before(d.Timing.Start) {
		o.Problem("recurrence.endTime", "is before startTime")
	}
	if r.Rule == nil {
		return
	}
	if _, err := spec.NewPlan(d.Timing, time.Now()); err != nil {
		for _, p := range problemsIn(err) {
			o.Problem(p.Path, "%s", p.Message)
		}
	}
}

func (d *Definition) readAction(o *document.Object, limits Limits, actions ActionReader) {
	if !o.Require("action") {
		return
	}
	ao, ok := o.Object("action")
	if !ok {
		return
	}
	d.Action = readActionSpec(ao, limits, actions, DefaultRetryPolicy(), true)
	ao.Done()
}

// readActionSpec reads an action or errorAction; inherited is the retry policy
// of one that has none.
func readActionSpec(o *document.Object, limits Limits, actions ActionReader, inherited RetryPolicy, main bool) ActionSpec {
	var s ActionSpec
	kind, ok := o.Enum("type", actions.Types()...)
	if ok {
		s.Type = kind
		s.Run = actions.ReadAction(kind, o)
	}
	if !ok {
		o.Require("type")
	}
	s.Retry = readRetryPolicy(o, limits, inherited)
	if s.Type == "" {
		defer o.IgnoreRest() // what else belongs there depends on the type
	}
	if !main {
		return s
	}
	if eo, ok := o.Object("errorAction"); ok {
		onError := readActionSpec(eo, limits, actions, s.Retry, false)
		eo.Done()
		s.OnError = &onError
	}
	return s
}

func (d *Definition) readPolicies(o *document.Object) {
	if v, ok := exactDuration(o, "jitter", 0, 24*time.Hour); ok {
		d.Jitter = v
	}
	if v, ok := exactDuration(o, "timeout", MinTimeout, MaxTimeout); ok {
		d.Timeout = v
	}
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
	if v, ok := exactDuration(co, "window", time.Second, 366*24*time.Hour); ok {
		d.CatchUp.Window = v
	}
	co.Done()
}

// The limits of labels and the description.
const (
	maxLabels      = 64
	maxLabelLength = 256
	maxDescription = 1024
)

func (d *Definition) readNotes(o *document.Object) {
	if labels, ok := o.StringMap("labels"); ok {
		if len(labels) > maxLabels {
			o.Problem("labels", "has %d members, at most %d are allowed", len(labels), maxLabels)
		}
		for name, value := range labels {
			if name == "" || len(name) > maxLabelLength || len(value) > maxLabelLength {
				o.Problem("labels", "label %q: names must not be empty, names and values at most %d bytes", name, maxLabelLength)
			}
		}
		d.Labels = labels
	}
	if text, ok := o.String("description"); ok {
		if len(text) > maxDescription {
			o.Problem("description", "is %d bytes long, at most %d are allowed", len(text), maxDescription)
		}
		d.Description = text
	}
}

// exactDuration reads a duration without calendar units.
func exactDuration(o *document.Object, name string, least, most time.Duration) (time.Duration, bool) {
	d, ok := o.Duration(name)
	if !ok {
		return 0, false
	}
	v := d.Exact
	switch {
	case d.Months > 0:
		o.Problem(name, "%s must not use years or months, whose length varies", d)
	case v < least:
		o.Problem(name, "%s is shorter than the allowed %s", d, document.Duration{Exact: least})
	case v > most:
		o.Problem(name, "%s is longer than the allowed %s", d, document.Duration{Exact: most})
	default:
		return v, true
	}
	return 0, false
}
