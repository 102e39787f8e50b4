package scheduler

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Limits are what a collection, or the process, allows its jobs.
type Limits struct {
	MinRetryInterval time.Duration // 0: 15 s
	retries          bool          // jobs inherit a retryPolicy
}

// Reading says for whom and within what limits a job document is read. Actions
// is required.
type Reading struct {
	Limits

	Actions ActionReader
	Key     Key       // the job's name
	UID     string    // the job's, if it is new
	Now     time.Time // stands in for a missing startTime

	errorActionsRead int // of the job that is being read

	stored   bool           // it was accepted once; limits that changed since do not break it
	trusted  bool           // and it is just as it was stored then, in the present form
	warnings []spec.Warning // what is without effect in the document
	raised   []string       // where the actions stand whose default retryInterval was raised
}

// warn notes what is without effect at a member of o.
func (r *Reading) warn(o *document.Object, name, message string) {
	r.warnings = append(r.warnings, spec.Warning{Path: o.Path(name), Message: message})
}

func (r *Reading) minRetryInterval() time.Duration {
	if r.MinRetryInterval > 0 {
		return r.MinRetryInterval
	}
	return DefaultMinRetryInterval
}

// Draft is a job document that has been read, and may be wrong yet: who keeps
// its secrets has to look at it, too.
type Draft struct {
	Object  *document.Object // of the properties, for more problems
	Written document.Value   // the properties, canonical by having been read
	At      string           // where they stand in the document: "properties", or "" for the document itself

	def *Definition
}

// Definition returns what the document says. The error matches [ErrInvalid] and
// holds every problem with its path.
func (d *Draft) Definition() (*Definition, error) {
	r := d.Object.Reader()
	if err := r.Err(); err != nil {
		return nil, AsInvalid(err)
	}
	d.def.properties = d.def.raise(d.Written.Without("state", "pausedUntil", "status"))
	if d.def.Timing.Start.IsZero() {
		d.def.properties = d.def.properties.Without("startTime")
	}
	d.def.at = d.At
	d.def.usedData = r.UsedData()
	d.def.secrets, d.def.refs = d.def.secrets || r.HasSecrets(), r.SecretRefs()
	return d.def, nil
}

// Document reads a whole job document: the properties, with or without the
// envelope around them.
func (r *Reading) Document(v document.Value) *Draft {
	reader := document.NewReader()
	reader.Knows(envelopeOf(v), r.words)
	d := r.document(reader.Object(v, ""))
	d.Written = enveloped(v, d.At)
	return d
}

// document reads the object of a whole job document.
func (r *Reading) document(o *document.Object) *Draft {
	inner, at := readEnvelope(o, r.Key)
	d := &Draft{Object: inner, At: at, def: r.properties(inner)}
	inner.Done()
	if inner != o {
		o.Done()
	}
	return d
}

// Properties reads the properties of a job.
func (r *Reading) Properties(v document.Value) *Draft {
	reader := document.NewReader()
	reader.Trusted = r.trusted
	if reader.Stored = r.stored; !r.stored {
		reader.Knows("", r.words)
	}
	o := reader.Object(v, "")
	d := &Draft{Object: o, Written: v, def: r.properties(o)}
	o.Done()
	return d
}

// Definition reads the properties of a job, and is done with them.
func (r *Reading) Definition(properties document.Value) (*Definition, error) {
	return r.Properties(properties).Definition()
}

// Patched reads the definition of j merged with a patch (RFC 7396), as
// [ReadPatch] returns it. Secrets that the patch does not name stay, also those
// that cannot be opened here. kept is where these stand.
//
// A patch replaces a list as a whole. Those of the secrets in it that stand at one
// of the paths inLists stay all the same, where the list has nothing for them.
func (r *Reading) Patched(j *Job, patch document.Value, inLists ...string) (d *Draft, kept []string) {
	base := j.Def.properties
	if j.State == Disabled {
		base = document.Merge(base, document.ObjectValue(
			document.Member{Name: "state", Value: document.StringValue(string(Disabled))},
		))
	}
	merged := document.Merge(base, patch).Clone() // a tree of its own, to be read
	if len(inLists) > 0 {
		merged = base.Restored("", merged, func(path string) bool { return slices.Contains(inLists, path) })
	}
	open, locked := merged.SecretPaths() // what the patch brings is not marked yet
	d = r.Properties(merged)
	d.def.secrets = j.Def.secrets
	if d.def.PausedUntil == nil && names(patch, "pausedUntil") { // it is null there
		d.def.PausedUntil = &time.Time{}
	}
	return d, append(open, locked...)
}

// names reports whether an object has a member of a name, in any letter case.
func names(v document.Value, name string) bool {
	return slices.ContainsFunc(v.Members(), func(m document.Member) bool { return strings.EqualFold(m.Name, name) })
}

// ReadPatch reads a patch document of the job k down to its properties.
func ReadPatch(k Key, v document.Value) (document.Value, error) {
	if v.Kind() != document.KindObject {
		return v, Invalid("", "must be an object, not "+v.Kind().String())
	}
	r := document.NewReader()
	o := r.Object(v, "")
	inner, at := readEnvelope(o, k)
	if id, ok := o.String("id"); ok && !isIDOf(id, k.Collection, "/jobs/"+k.Job) {
		o.Problem("id", "is %q, but the job that is patched is %s", id, k)
	}
	if inner.Has("status") {
		inner.Problem("status", "is read-only and must not be patched")
	}
	if inner != o {
		o.Done()
	}
	return enveloped(v, at), AsInvalid(r.Err())
}

// envelope is the member that holds the properties, in a document that has it.
const envelope = "properties"

// envelopeNames are the members beside the properties. They name the job, or tell
// what became of it; all are read-only.
var envelopeNames = []string{"id", "type", "etag", "name", "collection", "result", "warnings", "dryRun"}

// readEnvelope reads the members around the properties, checks that they name
// the job k, and returns the object of the properties and where it is.
func readEnvelope(o *document.Object, k Key) (properties *document.Object, at string) {
	o.Ignore("id", "type", "etag", "result", "warnings", "dryRun")
	if name, ok := o.String("name"); ok && name != k.Job && name != k.String() && name != k.Plain().String() {
		o.Problem("name", "is %q, but the job is put as %q", name, k.String())
	}
	if c, ok := o.String("collection"); ok && c != k.Collection && c != PlainName(k.Collection) {
		o.Problem("collection", "is %q, but the job is put into %q", c, k.Collection)
	}
	if inner, ok := o.Object(envelope); ok {
		return inner, envelope
	}
	return o, ""
}

// enveloped returns the properties of a document that was read.
func enveloped(v document.Value, at string) document.Value {
	if at == "" {
		return v.Except(envelopeNames...)
	}
	p, _ := v.Member(at)
	return p
}

// envelopeOf returns where the properties stand in a document that is to be read.
func envelopeOf(v document.Value) string {
	for _, m := range v.Members() {
		if strings.EqualFold(m.Name, envelope) {
			return envelope
		}
	}
	return ""
}
