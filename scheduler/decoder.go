package scheduler

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Limits are the limits of a collection, or of the process, for its jobs.
type Limits struct {
	MinRetryInterval time.Duration // 0: 15 s
	retries          bool          // jobs inherit a retryPolicy
}

// DefinitionDecoder parses job documents within limits. Actions is required.
type DefinitionDecoder struct {
	Limits

	Actions ActionReader
	Key     Key
	UID     string    // of a new job
	Now     time.Time // replaces a missing startTime

	errorActionsRead int // in the current job

	stored   bool           // the document was accepted before; changed limits do not invalidate it
	trusted  bool           // the document is unchanged since then, in the present form
	compact  bool           // keep properties without secrets as text
	warnings []spec.Warning // settings without effect
	raised   []string       // paths of actions whose default retryInterval was raised
}

// warn adds a warning for a setting without effect, a field of o.
func (r *DefinitionDecoder) warn(o *document.Object, name, message string) {
	r.warnings = append(r.warnings, spec.Warning{Path: o.Path(name), Message: message})
}

func (r *DefinitionDecoder) minRetryInterval() time.Duration {
	if r.MinRetryInterval > 0 {
		return r.MinRetryInterval
	}
	return DefaultMinRetryInterval
}

// ParsedDefinition is a parsed job document that may still be invalid: the caller checks its secrets, too.
type ParsedDefinition struct {
	Object  *document.Object // the properties; callers add problems
	Written document.Value   // the properties, made canonical by parsing
	At      string           // path of the properties: "properties", or "" for the document itself

	def *Definition
}

// Definition returns the definition of the document. The error matches [ErrInvalid] and holds every problem with its
// path.
func (d *ParsedDefinition) Definition() (*Definition, error) {
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

// Document parses a job document: the properties, with or without the envelope around them.
func (r *DefinitionDecoder) Document(v document.Value) *ParsedDefinition {
	reader := document.NewReader()
	reader.Knows(envelopeOf(v), r.words)
	d := r.document(reader.Object(v, ""))
	d.Written = enveloped(v, d.At)
	return d
}

// document parses the object of a job document.
func (r *DefinitionDecoder) document(o *document.Object) *ParsedDefinition {
	inner, at := readEnvelope(o, r.Key)
	d := &ParsedDefinition{Object: inner, At: at, def: r.properties(inner)}
	inner.Done()
	if inner != o {
		o.Done()
	}
	return d
}

// Properties parses the properties of a job.
func (r *DefinitionDecoder) Properties(v document.Value) *ParsedDefinition {
	reader := document.NewReader()
	reader.Trusted = r.trusted
	if reader.Stored = r.stored; !r.stored {
		reader.Knows("", r.words)
	}
	o := reader.Object(v, "")
	d := &ParsedDefinition{Object: o, Written: v, def: r.properties(o)}
	o.Done()
	return d
}

// Definition parses the properties of a job and returns its definition.
func (r *DefinitionDecoder) Definition(properties document.Value) (*Definition, error) {
	return r.Properties(properties).Definition()
}

// Patched parses the definition of j merged with a patch (RFC 7396) from [ReadPatch]. Secrets that the patch omits
// stay, including those that cannot be opened here. kept holds their paths.
//
// A patch replaces a list as a whole. Secrets in lists at one of the paths inLists stay nevertheless, where the new
// list omits them.
func (r *DefinitionDecoder) Patched(j *Job, patch document.Value, inLists ...string) (d *ParsedDefinition, kept []string) {
	base := j.Def.Document()
	if j.State == Disabled {
		base = document.Merge(base, document.ObjectValue(
			document.Member{Name: "state", Value: document.StringValue(string(Disabled))},
		))
	}
	merged := document.Merge(base, patch).Clone() // a copy, because parsing modifies it
	if len(inLists) > 0 {
		merged = base.Restored("", merged, func(path string) bool { return slices.Contains(inLists, path) })
	}
	open, locked := merged.SecretPaths() // secrets of the patch are not marked yet
	d = r.Properties(merged)
	d.def.secrets = j.Def.secrets
	if d.def.PausedUntil == nil && names(patch, "pausedUntil") { // null in the patch
		d.def.PausedUntil = &time.Time{}
	}
	return d, append(open, locked...)
}

// names reports whether an object has a field of a name, in any letter case.
func names(v document.Value, name string) bool {
	return slices.ContainsFunc(v.Members(), func(m document.Member) bool { return strings.EqualFold(m.Name, name) })
}

// ReadPatch reduces a patch document of the job k to its properties.
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

// envelope is the field that holds the properties in a document with an envelope.
const envelope = "properties"

// envelopeNames are the read-only fields next to the properties. They name the job or report its status.
var envelopeNames = []string{"id", "type", "etag", "name", "collection", "result", "warnings", "dryRun"}

// readEnvelope reads the fields around the properties of a job.
func readEnvelope(o *document.Object, k Key) (properties *document.Object, at string) {
	o.Ignore("id", "type", "etag", "result", "warnings", "dryRun")
	return ReadEnvelope(o, k, "job")
}

// ReadEnvelope reads the fields around the properties of a document, checks that they name k, and returns the object and
// path of the properties. The errors name k with the word what.
func ReadEnvelope(o *document.Object, k Key, what string) (properties *document.Object, at string) {
	if name, ok := o.String("name"); ok && name != k.Job && name != k.String() && name != k.Plain().String() {
		o.Problem("name", "is %q, but the %s is put as %q", name, what, k.String())
	}
	if c, ok := o.String("collection"); ok && c != k.Collection && c != PlainName(k.Collection) {
		o.Problem("collection", "is %q, but the %s is put into %q", c, what, k.Collection)
	}
	if inner, ok := o.Object(envelope); ok {
		return inner, envelope
	}
	return o, ""
}

// enveloped returns the properties of a parsed document.
func enveloped(v document.Value, at string) document.Value {
	if at == "" {
		return v.Except(envelopeNames...)
	}
	p, _ := v.Member(at)
	return p
}

// envelopeOf returns the path of the properties in a document that is not parsed yet.
func envelopeOf(v document.Value) string {
	for _, m := range v.Members() {
		if strings.EqualFold(m.Name, envelope) {
			return envelope
		}
	}
	return ""
}

// JobShape returns the shape of a job document for all action types, with the envelope "properties". It is derived from
// the parser of jobs, which also accepts the fields without the envelope, next to the envelope's fields.
func JobShape(actions ActionReader) *document.Shape {
	reading := DefinitionDecoder{Actions: actions}
	return document.ShapeOf(func(o *document.Object) { reading.document(o) })
}

// CollectionShape returns the shape of a collection document. It is derived from the parser of collections, except for
// the errorAction of the defaults, which takes the fields of the action in the shape of a job.
func CollectionShape(actions ActionReader, job *document.Shape) *document.Shape {
	shape := document.ShapeOf(func(o *document.Object) {
		new(Collection).read(o)
		properties, _ := o.Object(envelope)
		if defaults, ok := properties.Object("defaults"); ok {
			new(Defaults).read(defaults, &DefinitionDecoder{Actions: actions})
		}
	})
	action := job.Members.Member(envelope).Members.Member("action")
	shape.Members.Member(envelope).Members.Member("defaults").Members.Member(errorAction).Members = action.Members
	return shape
}

// words returns the shape of a job without an envelope, for all action types.
func (r *DefinitionDecoder) words() *document.Shape {
	describing := DefinitionDecoder{Actions: r.Actions, Key: r.Key, Now: r.Now}
	return document.ShapeOf(func(o *document.Object) { describing.properties(o) })
}

// likelyType returns the probable type of an action whose own type is missing or wrong, so that the action's other
// problems can be reported at the same time: a type that requires a field of the action, the nearest to the written
// type. "" if nothing suggests a type.
func (r *DefinitionDecoder) likelyType(o *document.Object) string {
	var kinds []string
	for _, kind := range r.Actions.Types() {
		words := document.ShapeOf(func(o *document.Object) { r.Actions.ReadAction(kind, o) })
		if slices.ContainsFunc(words.Members.Known, func(s *document.Shape) bool { return s.Required && o.Holds(s.Name) }) {
			kinds = append(kinds, kind)
		}
	}
	written, _ := o.Value("type")
	if len(kinds) == 0 {
		return document.Nearest(written.Text(), r.Actions.Types())
	}
	if near := document.Nearest(written.Text(), kinds); near != "" {
		return near
	}
	return kinds[0]
}
