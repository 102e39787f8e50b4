package scheduler

import (
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Defaults are the settings that the jobs of a collection inherit. A job's own setting overrides the default.
type Defaults struct {
	Labels map[string]string

	timeout   time.Duration // 0: none
	lateAfter time.Duration // 0: none
	action    ActionSpec    // only its retry policy and errorActions
	document  document.Value
	refs      []document.SecretRef
}

// Refers reports whether the defaults refer to a shared secret. d may be nil.
func (d *Defaults) Refers(secret string) bool {
	return d != nil && slices.ContainsFunc(d.refs, func(ref document.SecretRef) bool { return ref.Name == secret })
}

// ReadDefaults reads the collection's defaults; nil for none. The error matches [ErrInvalid]. A collection stores no
// secrets: its errorActions refer to shared secrets, which are sealed and rotated. The limits of the process do not
// apply to a stored collection. If a limit raises the default retry interval, the raised value is written into the
// collection.
func (c *Collection) ReadDefaults(actions ActionReader, process Limits) (*Defaults, error) {
	v, ok := c.properties.Member("defaults")
	if !ok {
		return nil, nil //nolint:nilnil // no defaults
	}
	const at = "properties.defaults"
	r := document.NewReader()
	o := r.Object(v.Clone(), at)
	d := &Defaults{document: v}
	reading := &DefinitionDecoder{Actions: actions, Limits: c.Limits(process), stored: c.Revision > 0}
	d.read(o, reading)
	if r.HasSecrets() {
		r.Problem(at+"."+errorAction, `must not contain a secret: refer to a shared one, as in {"secretRef": "slack"}`)
	}
	d.refs = r.SecretRefs()
	if !reading.stored {
		c.properties = (&Definition{raised: reading.raised, minimum: reading.minRetryInterval()}).raise(c.properties)
	}
	return d, AsInvalid(r.Err())
}

func (d *Defaults) read(o *document.Object, r *DefinitionDecoder) {
	d.timeout, _ = o.ExactDuration("timeout", MinTimeout, MaxTimeout)
	d.lateAfter, _ = o.ExactDuration("lateAfter", time.Second, maxWindow)
	d.Labels = readLabels(o)
	d.action.Retry = r.retryPolicy(o, r.defaultRetryPolicy(), "defaults")
	d.action.OnError = r.errorActions(o, d.action.Retry, "defaults")
	o.Done()
}

// Inheriting returns j with its collection's defaults for all settings that j omits. d may be nil.
func (j *Job) Inheriting(d *Defaults) *Job {
	if d == nil {
		return j
	}
	def, properties := *j.Def, j.Def.Document()
	action, _ := properties.Member("action")
	var inherited []document.Member
	for _, m := range d.document.Members() {
		from := properties
		if m.Name == "retryPolicy" || m.Name == errorAction {
			from = action
		}
		own, is := from.Member(m.Name)
		if is && m.Name != "labels" {
			continue
		}
		switch m.Name {
		case "labels":
			def.Labels = maps.Clone(d.Labels)
			for _, label := range own.Members() {
				m.Value = m.Value.Except(label.Name)
				def.Labels[label.Name] = j.Def.Labels[label.Name]
			}
		case "timeout":
			def.Timeout = d.timeout
		case "lateAfter":
			def.LateAfter = d.lateAfter
		case "retryPolicy":
			def.Action.Retry = d.action.Retry
		case errorAction:
			def.Action.OnError = d.action.OnError
		}
		inherited = append(inherited, m)
	}
	if inherited != nil {
		def.Inherited = document.ObjectValue(inherited...)
	}
	next := *j
	next.Def = &def
	return &next
}
