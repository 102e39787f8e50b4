package scheduler

import (
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Defaults are the settings of a collection that apply to its jobs. A setting of a job overrides the default.
type Defaults struct {
	Labels map[string]string

	timeout   time.Duration // 0: none
	lateAfter time.Duration // 0: none
	action    ActionSpec    // its retry policy and errorActions only
	document  document.Value
	refs      []document.SecretRef
}

// Refers reports whether the defaults, nil for none, name a shared secret.
func (d *Defaults) Refers(secret string) bool {
	return d != nil && slices.ContainsFunc(d.refs, func(ref document.SecretRef) bool { return ref.Name == secret })
}

// ReadDefaults reads the collection's defaults; nil for none. The error matches [ErrInvalid]. A collection stores no
// secret: its errorActions refer to shared secrets, which are sealed and rotated.
func (c *Collection) ReadDefaults(actions ActionReader) (*Defaults, error) {
	v, ok := c.properties.Member("defaults")
	if !ok {
		return nil, nil //nolint:nilnil // absence is an answer
	}
	const at = "properties.defaults"
	r := document.NewReader()
	o := r.Object(v.Clone(), at)
	d := &Defaults{document: v}
	d.timeout, _ = o.ExactDuration("timeout", MinTimeout, MaxTimeout)
	d.lateAfter, _ = o.ExactDuration("lateAfter", time.Second, maxWindow)
	d.Labels = readLabels(o)
	reading := Reading{Actions: actions, Limits: Limits{MinRetryInterval: c.MinRetryInterval}}
	d.action.Retry = reading.retryPolicy(o, reading.defaultRetryPolicy(), at)
	d.action.OnError = reading.errorActions(o, d.action.Retry, "defaults")
	o.Done()
	if r.HasSecrets() {
		r.Problem(at+"."+errorAction, `must not contain a secret: refer to a shared one, as in {"secretRef": "slack"}`)
	}
	d.refs = r.SecretRefs()
	return d, AsInvalid(r.Err())
}

// Inheriting returns j with the defaults of its collection for all settings that j leaves out. d may be nil.
func (j *Job) Inheriting(d *Defaults) *Job {
	if d == nil {
		return j
	}
	def := *j.Def
	action, _ := def.properties.Member("action")
	var inherited []document.Member
	for _, m := range d.document.Members() {
		from := def.properties
		if m.Name == "retryPolicy" || m.Name == errorAction {
			from = action
		}
		if _, own := from.Member(m.Name); own && m.Name != "labels" {
			continue
		}
		switch m.Name {
		case "labels":
			m.Value = m.Value.Except(slices.Collect(maps.Keys(def.Labels))...)
			def.Labels = maps.Clone(d.Labels)
			maps.Copy(def.Labels, j.Def.Labels)
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
