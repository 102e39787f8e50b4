package scheduler

import (
	"slices"
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
