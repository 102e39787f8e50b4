package scheduler

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Definition is a job as its users wrote it: the properties of a job document, validated and compiled.
type Definition struct {
	Timing      spec.Timing // startTime, timeZone, dst and recurrence
	Action      ActionSpec
	Trigger     *Trigger      // nil: time, and other jobs that name it, start the job
	OnSuccess   []string      // jobs that a completed occurrence starts: names in the own collection, or collection/job
	OnFailure   []string      // the same, for a faulted one
	OnlyIf      *OnlyIf       // condition of planned occurrences; nil: none
	State       State         // enabled or disabled; "" if omitted: an existing job keeps its state, a new job is enabled
	PausedUntil *time.Time    // end of the pause; zero: no pause; nil if omitted: the job keeps its pause
	Jitter      time.Duration // an occurrence is delayed by a fixed share of it; 0: none
	CatchUp     CatchUp
	Overlap     Overlap
	Timeout     time.Duration // per attempt
	LateAfter   time.Duration // an occurrence that begins later than this after its due time is late; 0: never
	Labels      map[string]string
	Description string
	Data        document.Value // template values: an object, or null for none
	Input       document.Value // JSON Schema of the data of a manual run: an object, or null for none

	Inherited document.Value // collection defaults in effect, see [Job.Inheriting]; null for none

	properties document.Value       // canonical, without state, pausedUntil and status; null if text has them
	text       string               // the stored properties in place of a tree, which takes more memory and is rarely needed
	secrets    bool                 // the properties contain secrets, locked or not
	usedData   []string             // fields of Data that the templates use; * for all
	refs       []document.SecretRef // shared secrets that the properties refer to
	at         string               // path of the properties in the document: "properties", or ""
	warnings   []spec.Warning       // settings without effect, with document paths
	raised     []string             // paths of actions whose default retryInterval was raised to minimum
	minimum    time.Duration        // the shortest allowed retryInterval

	plan       *spec.Plan      // plan of a text rule compiled during validation; nil: not compiled yet
	recurrence spec.Recurrence // memory of Timing.Recurrence
}

// CatchUp is the misfire policy: how the job handles occurrences that were missed while no worker ran, or while the job
// was not served.
type CatchUp struct {
	Policy CatchUpPolicy
	// Window is how late an occurrence can start. Default: 1 h for a recurring job; unlimited for a one-shot, which has
	// no later occurrence.
	Window time.Duration
}

// The defaults and limits of a definition.
const (
	DefaultCatchUpWindow = time.Hour
	DefaultTimeout       = 60 * time.Second
	MinTimeout           = time.Second
	MaxTimeout           = 30 * time.Minute
	MaxJobSize           = 16 << 10 // length in bytes of a job document (Azure Scheduler's 16 K)
	maxWindow            = 366 * 24 * time.Hour
	unlimitedWindow      = 1 << 62
)

// Document returns the definition as canonical JSON: field names in their exact spelling, enum values in the API's
// spelling. It contains the secrets, which its encoding omits.
func (d *Definition) Document() document.Value {
	if d.text == "" {
		return d.properties
	}
	v, _ := document.ParseText(d.text) // which was parsed before
	return v
}

// Properties returns the encoded [Definition.Document], without secrets.
func (d *Definition) Properties() []byte { return d.Document().JSON() }

// HasSecrets reports whether the definition itself contains secrets.
func (d *Definition) HasSecrets() bool { return d.secrets }

// Refers reports whether the definition refers to a shared secret.
func (d *Definition) Refers(secret string) bool {
	return slices.ContainsFunc(d.refs, func(ref document.SecretRef) bool { return ref.Name == secret })
}

// Warnings returns settings without effect, and the warnings of the plan, with document paths.
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

// RefuseWarnings converts warnings to an [ErrInvalid], for strict validation.
func RefuseWarnings(warnings []spec.Warning) error {
	problems := make(document.Problems, len(warnings))
	for i, w := range warnings {
		problems[i] = document.Problem{Path: w.Path, Message: w.Message}
	}
	return AsInvalid(problems)
}

// UsesData reports whether a template of the definition uses a field of Data.
func (d *Definition) UsesData(name string) bool {
	return slices.Contains(d.usedData, name) || slices.Contains(d.usedData, "*")
}

// TakesData reports whether manual runs can pass data to the job, subject to its schema.
func (d *Definition) TakesData() bool {
	return len(d.usedData) > 0 || d.Input.Kind() == document.KindObject
}

// schedule returns the canonical text of the fields that decide when the job runs. Edits that change it start a new
// schedule.
func (d *Definition) schedule() string {
	text := d.Document().Only(scheduleMembers...).String()
	if d.Trigger != nil && d.Timing.Recurrence == nil {
		text += " trigger"
	}
	return text
}

// scheduleMembers are the fields that decide when the job runs, except jitter.
var scheduleMembers = []string{"startTime", "timeZone", "dst", "recurrence"}

// noteMembers are notes for people: they do not affect the job's runs.
var noteMembers = []string{"labels", "description"}

// work returns the canonical text of all fields except notes. An edit that changes it restarts an ended job.
func (d *Definition) work() string { return d.Document().Without(noteMembers...).String() }

// properties reads the fields of the properties object. The caller calls o.Done, because the object may also hold
// envelope fields.
func (r *DefinitionDecoder) properties(o *document.Object) *Definition {
	d := &Definition{Overlap: OverlapSkip, Timeout: DefaultTimeout}
	r.warnings, r.raised, r.errorActionsRead = nil, nil, 0
	o.Ignore("status") // read-only: a fetched document can be put back unchanged
	if v, ok := o.Value("state"); ok && State(strings.ToLower(v.Text())).Final() {
		o.Problem("state", "%q is set by the scheduler; enabled and disabled may be asked for", v.Text())
	} else if s, ok := o.Enum("state", string(Enabled), string(Disabled)); ok {
		d.State = State(s)
	}
	d.readPause(o, r)
	d.readData(o)
	d.readTiming(o, r)
	d.readTrigger(o, r)
	d.OnSuccess, d.OnFailure = readStarts(o, "onSuccess"), readStarts(o, "onFailure")
	d.readOnlyIf(o, r)
	d.readAction(o, r)
	d.readPolicies(o)
	d.Labels, d.Description = ReadNotes(o)
	for _, w := range o.Reader().Warnings {
		r.warnings = append(r.warnings, spec.Warning{Path: w.Path, Message: w.Message})
	}
	d.warnings, d.raised, d.minimum = r.warnings, r.raised, r.minRetryInterval()
	return d
}

// readPause reads pausedUntil. Null ends a pause; an absent field keeps it.
func (d *Definition) readPause(o *document.Object, r *DefinitionDecoder) {
	until, ok := o.Time("pausedUntil")
	if !ok && !o.Null("pausedUntil") {
		return
	}
	end := until // a copy, because few jobs have one
	d.PausedUntil = &end
	if until.Year() > 9999 { // with its offset applied
		o.Problem("pausedUntil", "is after the year 9999 in UTC, and there is none")
	}
	if ok && !r.Now.IsZero() && !until.After(r.Now) {
		r.warn(o, "pausedUntil", "has passed and has no effect")
	}
}

// readTiming reads when the job runs. It compiles a text schedule, so that errors are reported with their path. A
// stored definition is compiled once, as a job.
func (d *Definition) readTiming(o *document.Object, r *DefinitionDecoder) {
	d.Timing = spec.ReadTiming(o)
	if d.Timing.Recurrence != nil {
		d.recurrence = *d.Timing.Recurrence
		d.Timing.Recurrence = &d.recurrence
	}
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

// readData reads the template values, and the schema of the data of manual runs.
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

func (d *Definition) readAction(o *document.Object, r *DefinitionDecoder) {
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

// CheckPolicies reads jitter, timeout, lateAfter, overlap and catchUp, for callers that do not read the rest of the
// properties. It reports problems to the object's reader.
func CheckPolicies(o *document.Object) { new(Definition).readPolicies(o) }

// IgnorePolicies accepts the fields that [CheckPolicies] reads.
func IgnorePolicies(o *document.Object) {
	o.Ignore("jitter", "timeout", "lateAfter", "overlap", "catchUp")
}

// IgnoreUnscheduled accepts all other fields that do not decide when the job runs, for callers that read only the
// schedule and the pause.
func IgnoreUnscheduled(o *document.Object) {
	o.Ignore(noteMembers...)
	o.Ignore("action", "state", "status", "data", "input", "trigger", "onlyIf", "onSuccess", "onFailure")
}

func (d *Definition) readPolicies(o *document.Object) {
	if v, ok := o.ExactDuration("jitter", 0, 24*time.Hour); ok {
		d.Jitter = v
	}
	if v, ok := o.ExactDuration("timeout", MinTimeout, MaxTimeout); ok {
		d.Timeout = v
	}
	d.LateAfter, _ = o.ExactDuration("lateAfter", time.Second, maxWindow)
	if v, ok := o.Enum("overlap", string(OverlapSkip), string(OverlapAllow), string(OverlapQueue)); ok {
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

// MaxDescription is the maximum length of a description in bytes.
const MaxDescription = 1024

// Limits for labels; lengths are in bytes.
const (
	maxLabels      = 64
	maxLabelLength = 256
)

// ReadNotes reads labels and description.
func ReadNotes(o *document.Object) (labels map[string]string, description string) {
	labels = readLabels(o)
	description, _ = o.String("description")
	if len(description) > MaxDescription {
		o.Problem("description", "is %d bytes long, at most %d are allowed", len(description), MaxDescription)
	}
	return labels, description
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

// DefinitionKeeper caches definitions by their stored properties, so that jobs with equal properties share one in
// memory.
type DefinitionKeeper interface {
	// Kept returns the cached definition for properties, nil if none.
	Kept(properties []byte) *Definition
	// Keep caches the definition of properties, if it is worth the memory.
	Keep(properties []byte, def *Definition)
}

// ReadJobWith is [ReadJob] with a cache of definitions. Definitions that contain secrets are not shared, because the
// job's name is part of their sealing.
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
		j, err := readStored(k, revision, data, DefinitionDecoder{Actions: actions, compact: true}, secrets)
		if err == nil {
			defs.Keep(properties, j.Def)
		}
		return j, err
	}
	var m storedMeta
	if err = m.decode(head, string(head)); err == nil {
		var j *Job
		if j, err = m.job(k, revision, len(data), def); err == nil {
			return j, nil
		}
	}
	return nil, damagedJob(k, revision, data, err)
}
