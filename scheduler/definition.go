package scheduler

import (
	"slices"
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
	State       State         // enabled or disabled, as the document says; "" when it does not: a job keeps its own, a new one is enabled
	PausedUntil *time.Time    // the end of the pause, as the document says; zero: there is to be none; nil: a job keeps its own
	Jitter      time.Duration // each occurrence is delayed by a fixed share of it; 0: none
	CatchUp     CatchUp
	Overlap     Overlap
	Timeout     time.Duration // per attempt
	LateAfter   time.Duration // an occurrence that begins later than this after it was due is late; 0: none is
	Labels      map[string]string
	Description string
	Data        document.Value // what its templates may use: an object, or null for none
	Input       document.Value // JSON Schema of the data of a manual run: an object, or null for none

	Inherited document.Value // of the collection's defaults, see [Job.Inheriting]; null for none

	properties   document.Value       // canonical, without state, pausedUntil and status
	secrets      bool                 // secrets stand in the properties, locked or not
	usedData     []string             // members of Data that its templates use; * for all
	refs         []document.SecretRef // shared secrets that the properties name
	at           string               // where the properties stood in the document: "properties", or ""
	warnings     []spec.Warning       // what is without effect in them, with paths from the document
	raised       []string             // where actions stand whose default retryInterval was raised to minimum
	minimum      time.Duration        // the shortest retryInterval that is allowed
	scheduleText string               // see schedule; "": not worked out

	plan *spec.Plan // of a text rule that was checked while it was read; nil: not compiled yet
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
	maxWindow            = 366 * 24 * time.Hour
	unlimitedWindow      = 1 << 62
)

// Document returns the definition as canonical JSON: the members in their exact
// spelling, enum values in the spelling of this API. Secrets are in it, and are
// left out when it is encoded.
func (d *Definition) Document() document.Value { return d.properties }

// Properties returns the definition as canonical JSON: the members in their
// exact spelling, enum values in the spelling of this API. Secrets are left out.
func (d *Definition) Properties() []byte { return d.properties.JSON() }

// HasSecrets reports whether secrets stand in the definition itself.
func (d *Definition) HasSecrets() bool { return d.secrets }

// Refers reports whether the definition names a shared secret.
func (d *Definition) Refers(secret string) bool {
	return slices.ContainsFunc(d.refs, func(ref document.SecretRef) bool { return ref.Name == secret })
}

// Warnings are what the writer of the definition might not expect of it: what is
// without effect, and what its plan has to say. Paths are those of the document.
func (d *Definition) Warnings(p *spec.Plan) []spec.Warning {
	warnings := slices.Clone(d.warnings)
	for _, w := range p.Warnings() {
		if d.at != "" {
			w.Path = d.at + "." + w.Path
		}
		warnings = append(warnings, w)
	}
	return warnings
}

// RefuseWarnings makes an [ErrInvalid] of warnings, for whoever wants none.
func RefuseWarnings(warnings []spec.Warning) error {
	problems := make(document.Problems, len(warnings))
	for i, w := range warnings {
		problems[i] = document.Problem{Path: w.Path, Message: w.Message}
	}
	return AsInvalid(problems)
}

// UsesData reports whether a template of the definition uses a member of Data.
func (d *Definition) UsesData(name string) bool {
	return slices.Contains(d.usedData, name) || slices.Contains(d.usedData, "*")
}

// TakesData reports whether a manual run may give the job data, as far as its schema allows.
func (d *Definition) TakesData() bool {
	return len(d.usedData) > 0 || d.Input.Kind() == document.KindObject
}

// schedule is the canonical text of what decides when the job runs, to tell
// whether an edit changed it.
func (d *Definition) schedule() string {
	if d.scheduleText != "" {
		return d.scheduleText
	}
	return d.properties.Only(scheduleMembers...).String()
}

// scheduleMembers are the properties that decide when the job runs, but for jitter.
var scheduleMembers = []string{"startTime", "timeZone", "dst", "recurrence"}

// work is the canonical text of all but what is for people only, to tell whether
// a job at its end is put with another wish.
func (d *Definition) work() string { return d.properties.Without("labels", "description").String() }

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

// DefinitionKeeper keeps definitions that several jobs have in common, by their stored
// properties, so that they are read once and in memory once.
type DefinitionKeeper interface {
	// Kept returns the definition that properties were read as, nil when it is not
	// kept.
	Kept(properties []byte) *Definition
	// Keep takes the definition that properties were read as, if it is worth to be
	// kept.
	Keep(properties []byte, def *Definition)
}

// ReadJobWith is [ReadJob] for who keeps definitions. Those with secrets of their own
// are each job's, as its name is part of how they are sealed.
func ReadJobWith(defs DefinitionKeeper, k Key, revision uint64, data []byte, actions ActionReader, secrets Sealer) (*Job, error) {
	head, properties, err := SplitStored(data)
	if err != nil || document.MayHoldSealed(properties) {
		return ReadJob(k, revision, data, actions, secrets)
	}
	if err := checkForm(data); err != nil {
		return nil, damagedJob(k, revision, data, err)
	}
	def := defs.Kept(properties)
	if def == nil {
		j, err := ReadJob(k, revision, data, actions, secrets)
		if err == nil {
			defs.Keep(properties, j.Def)
		}
		return j, err
	}
	var m storedMeta
	if err = m.decode(head); err == nil {
		var j *Job
		if j, err = m.job(k, revision, len(data), def); err == nil {
			return j, nil
		}
	}
	return nil, damagedJob(k, revision, data, err)
}
