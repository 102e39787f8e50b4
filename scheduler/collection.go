package scheduler

import (
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Collection is a group of jobs that share quotas, defaults and target rules.
type Collection struct {
	Name     string // as in [Key]
	Scope    Scope  // in the letter case of the collection's creation
	Revision uint64

	State            State           // enabled, disabled or deleting; a disabled collection postpones its jobs
	Suspended        bool            // disabled, and shown as suspended, a state of Azure Scheduler
	Plan             Plan            // its sku; "": no plan, and no quota but its own
	MaxJobCount      int             // own quota; 0: quota of the plan
	MaxRecurrence    spec.Recurrence // own quota: the highest frequency of a job; zero frequency: quota of the plan
	MinRetryInterval time.Duration   // 0: limit of the process, 15 s by default

	Defaults *Defaults // set if the reader knows the action types; nil: none

	Targets map[string]*TargetRule // by host, host and port, or "*" for all others

	properties document.Value // canonical
	top        document.Value // location and tags, canonical
}

// storedCollection is a collection in the store.
type storedCollection struct {
	Subscription string          `json:"subscription,omitempty"` // of the scope; both "" for the default scope
	Group        string          `json:"resourceGroup,omitempty"`
	State        string          `json:"state,omitempty"` // suspended or deleting, which the document cannot express
	Top          json.RawMessage `json:"top"`
	Properties   json.RawMessage `json:"properties"`
}

// NewCollection returns a collection without settings.
func NewCollection(name string) *Collection {
	return &Collection{
		Name: name, State: Enabled,
		properties: document.ObjectValue(), top: document.ObjectValue(),
	}
}

// ReadCollection reads a collection document. Null is equivalent to an absent field.
func ReadCollection(name string, v document.Value) (*Collection, error) {
	v = document.Merge(document.ObjectValue(), v) // drops null fields and copies the tree
	r := document.NewReader()
	c := &Collection{Name: name, State: Enabled, properties: document.ObjectValue()}
	c.read(r.Object(v, ""))
	if p, ok := v.Member(envelope); ok {
		c.properties = p
	}
	c.top = v.Only("location", "tags")
	return c, AsInvalid(r.Err())
}

// read reads the whole document.
func (c *Collection) read(o *document.Object) {
	o.Ignore("type", "etag", "result", "dryRun")
	if s, ok := o.String("name"); ok && s != c.Name && s != PlainName(c.Name) {
		o.Problem("name", "is %q, but the collection is called %q", s, c.Name)
	}
	_, _ = o.StringMap("tags")
	_, _ = o.String("location")
	if id, ok := o.String("id"); ok && c.Name != PlainName(c.Name) && isIDOf(id, c.Name, "") {
		c.Scope, _, _ = ReadID(id)
	}
	if po, ok := o.Object(envelope); ok {
		c.readProperties(po)
		po.Done()
	}
	o.Done()
}

func (c *Collection) readProperties(o *document.Object) {
	if s, ok := o.Enum("state", string(Enabled), string(Disabled), suspended, "deleted"); ok {
		c.State = State(s)
		if s == suspended {
			c.State, c.Suspended = Disabled, true
		}
		if c.State != Enabled && c.State != Disabled {
			o.Problem("state", "%q is set by the service; enabled, disabled and suspended may be asked for", s)
		}
	}
	if so, ok := o.Object("sku"); ok {
		if plan, ok := so.Enum("name", string(Standard), string(Free), string(P10Premium), string(P20Premium)); ok {
			c.Plan = Plan(plan)
		}
		so.Done()
	}
	if d, ok := o.ExactDuration("minRetryInterval", time.Millisecond, 24*time.Hour); ok {
		c.MinRetryInterval = d
	}
	c.Targets = readTargets(o)
	_, _ = o.Object("defaults") // ReadDefaults reads it, because it knows the action types
	q, ok := o.Object("quota")
	if !ok {
		return
	}
	if n, ok := q.Int("maxJobCount", 1, 1<<31-1); ok {
		c.MaxJobCount = int(n)
	}
	_, _ = q.Int("maxJobOccurrence", 1, 1<<31-1) // accepted without effect, as in Azure Scheduler
	if ro, ok := q.Object("maxRecurrence"); ok {
		c.MaxRecurrence = spec.ReadRecurrence(ro)
		if c.MaxRecurrence.Rule != nil {
			ro.Problem("", "a quota needs frequency and interval")
		}
		ro.Done()
	}
	q.Done()
}

// Encode returns the stored form of the collection.
func (c *Collection) Encode() ([]byte, error) {
	properties := c.properties
	state := ""
	if c.Suspended || c.State == Deleting {
		state = c.ShownState()
		properties = properties.With(document.StringValue(string(Disabled)), "state")
	}
	return json.Marshal(storedCollection{c.Scope.Subscription, c.Scope.Group, state, c.top.JSON(), properties.JSON()})
}

// DecodeCollection decodes a stored collection. The error is a [*DamagedError].
func DecodeCollection(name string, revision uint64, data []byte) (*Collection, error) {
	c, err := decodeCollection(name, data)
	if err != nil {
		return nil, &DamagedError{Key: Key{Collection: name}, Revision: revision, Reason: err.Error()}
	}
	c.Revision = revision
	return c, nil
}

func decodeCollection(name string, data []byte) (*Collection, error) {
	var s storedCollection
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	properties, err := document.Parse(s.Properties)
	if err != nil {
		return nil, err
	}
	v := document.ObjectValue(document.Member{Name: "properties", Value: properties})
	c, err := ReadCollection(name, v)
	if err != nil {
		return nil, err
	}
	c.Scope = Scope{s.Subscription, s.Group}
	if s.State != "" {
		c = c.WithState(State(s.State))
	}
	c.top, err = document.Parse(s.Top)
	return c, err
}

// Closed returns why the collection's jobs do not run; "" if they may.
func (c *Collection) Closed() string {
	switch c.State { //nolint:exhaustive // a collection has no other state
	case Disabled:
		return "is disabled"
	case Deleting:
		return "is being deleted"
	}
	return ""
}

// CheckKept returns [ErrConflict] while the collection is being deleted: nothing in it may change.
func (c *Collection) CheckKept() error {
	if c.State != Deleting {
		return nil
	}
	return fmt.Errorf("collection %s: %w: it is being deleted with its jobs; wait until it is gone", c.Name, ErrConflict)
}

// WithState returns the collection in another state.
func (c *Collection) WithState(state State) *Collection {
	next := *c
	next.State, next.Suspended = state, state == suspended
	if next.Suspended {
		next.State = Disabled
	}
	next.properties = document.Merge(c.properties, document.ObjectValue(
		document.Member{Name: "state", Value: document.StringValue(string(state))},
	))
	return &next
}

// Replacing returns c as the replacement of before, which may be nil. c keeps the scope of before, and its state if the
// document of c has none.
func (c *Collection) Replacing(before *Collection) *Collection {
	if before == nil {
		return c
	}
	next := *c
	next.Scope = before.Scope
	if _, named := c.properties.Member("state"); named || before.State == c.State {
		return &next
	}
	return next.WithState(State(before.ShownState()))
}

// Placed checks that the scope of a new collection is known: if the name has a scope mark, only the collection's id
// contains the scope. The error is [ErrNotFound].
func (c *Collection) Placed() error {
	if c.Scope.Collection(PlainName(c.Name)) == c.Name {
		return nil
	}
	return fmt.Errorf("collection %s: %w; what stands after %q is its subscription and resource group: create it by the path of these, "+
		"or with its whole id in the document", c.Name, ErrNotFound, scopeMark)
}

// Equals reports whether both collections have the same settings, whether or not they write out default values.
func (c *Collection) Equals(other *Collection) bool {
	properties, top := c.Settings()
	others, otherTop := other.Settings()
	return c.ShownState() == other.ShownState() && properties.Equal(others) && top.Equal(otherTop)
}

// Patched returns the collection merged with a document (RFC 7396): absent fields stay, null removes a field. The error
// is [ErrInvalid] with every problem.
func (c *Collection) Patched(patch document.Value) (*Collection, error) {
	if patch.Kind() != document.KindObject {
		return nil, Invalid("", "must be an object, not "+patch.Kind().String())
	}
	if id, ok := patch.Member("id"); ok && !isIDOf(id.Text(), c.Name, "") {
		return nil, Invalid("id", fmt.Sprintf("is %q, but the collection that is patched is %s", id.Text(), c.Name))
	}
	base := append([]document.Member{}, c.top.Members()...)
	base = append(base, document.Member{Name: "properties", Value: c.properties})
	next, err := ReadCollection(c.Name, document.Merge(document.ObjectValue(base...), patch))
	if err == nil {
		next.Scope = c.Scope
	}
	return next, err
}

// suspended is a collection state of Azure Scheduler, in addition to enabled and disabled.
const suspended = "suspended"

// ShownState returns the state as users see it.
func (c *Collection) ShownState() string {
	if c.Suspended {
		return suspended
	}
	return string(c.State)
}

// Settings returns the collection's properties without its state, and the fields next to them: location and tags.
func (c *Collection) Settings() (properties, top document.Value) {
	return c.properties.Without("state"), c.top
}

// TargetRule limits the attempts of a collection's jobs to a target, or to each of several. Each process applies the
// rule separately: with n processes, a target can receive up to n times as much.
type TargetRule struct {
	Concurrency int           // attempts in progress; 0: the limit of the process
	Rate        int           // attempts that begin in each Per; 0: no limit
	Per         time.Duration // default: 1 s
	Breaker     *BreakerRule  // nil: none
}

// BreakerRule configures the circuit breaker of a target. An attempt counts as a failure if it has no response, or one
// with 408, 429 or 5xx.
type BreakerRule struct {
	Failures int           // consecutive failures that open the circuit breaker
	OpenFor  time.Duration // how long it stays open until a probe attempt
	Most     time.Duration // maximum deferral of an attempt; then it runs regardless
}

// The defaults and limits of target rules.
const (
	maxTargets     = 100
	DefaultOpenFor = 30 * time.Second
	DefaultPutOff  = 10 * time.Minute
	defaultTrouble = 5
	maxOpenFor     = time.Hour
	maxPutOff      = 24 * time.Hour
)

// anyTarget is the name of the rule for targets without another rule.
const anyTarget = "*"

// readTargets reads the targets field of a collection: an object of rules by target, which is a host, a host and port,
// "*.example.com" for every host below, or "*" for all others.
func readTargets(o *document.Object) map[string]*TargetRule {
	v, ok := o.Sample("targets", document.ObjectValue(document.Member{Name: anyTarget, Value: document.ObjectValue()}))
	if !ok {
		return nil
	}
	to := o.Inner("targets", v)
	if n := len(v.Members()); n > maxTargets {
		to.Problem("", "has %d members, at most %d are allowed", n, maxTargets)
		return nil
	}
	rules := make(map[string]*TargetRule, len(v.Members()))
	for _, m := range v.Members() {
		name := strings.ToLower(m.Name)
		if !validTarget(name) {
			to.Reader().Problem(to.Path(m.Name), `is not a target: write a host, a host and port, "*.example.com" or "*"`)
		}
		ro, ok := to.Object(m.Name)
		if !ok {
			continue
		}
		if rules[name] != nil {
			to.Reader().Problem(to.Path(m.Name), "is given twice, in different letter case")
		}
		rules[name] = readTargetRule(ro)
		ro.Done()
	}
	return rules
}

// validTarget reports whether name can be the name of a target: a host as in a URI, with an optional port or, for an
// account at a custom endpoint, a path.
func validTarget(name string) bool {
	host, port, err := net.SplitHostPort(name)
	if err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			port, _, _ = strings.Cut(port, "/")
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return false
			}
		}
	} else {
		host = name
	}
	host = strings.TrimPrefix(host, "*.")
	return host == anyTarget && err != nil || host != "" && !strings.ContainsAny(host, " \t\r\n*?#@") && !strings.Contains(host, "//")
}

func readTargetRule(o *document.Object) *TargetRule {
	r := &TargetRule{Per: time.Second}
	if n, ok := o.Int("concurrency", 1, 1<<20); ok {
		r.Concurrency = int(n)
	}
	if ro, ok := o.Object("rate"); ok {
		if n, ok := ro.Int("limit", 1, 1<<20); ok {
			r.Rate = int(n)
		}
		if d, ok := ro.ExactDuration("per", time.Millisecond, 24*time.Hour); ok {
			r.Per = d
		}
		ro.Require("limit")
		ro.Done()
	}
	bo, ok := o.Object("circuitBreaker")
	if !ok {
		if !r.limits() {
			o.Problem("", "has no rule: give concurrency, rate or circuitBreaker")
		}
		return r
	}
	r.Breaker = &BreakerRule{Failures: defaultTrouble, OpenFor: DefaultOpenFor, Most: DefaultPutOff}
	if n, ok := bo.Int("failures", 1, 1<<20); ok {
		r.Breaker.Failures = int(n)
	}
	if d, ok := bo.ExactDuration("openFor", time.Second, maxOpenFor); ok {
		r.Breaker.OpenFor = d
	}
	r.Breaker.Most = max(r.Breaker.Most, r.Breaker.OpenFor)
	d, ok := bo.ExactDuration("maxPostponement", 0, maxPutOff)
	if ok && bo.NotShorter("maxPostponement", d, r.Breaker.OpenFor) {
		r.Breaker.Most = d
	}
	bo.Done()
	return r
}

// limits reports whether the rule limits attempts.
func (r *TargetRule) limits() bool { return r.Rate > 0 || r.Concurrency > 0 }

// Rule returns the rule for a target, nil for none. The most specific name wins: the whole target, its host, the
// nearest domain above it, any.
func (c *Collection) Rule(target string) *TargetRule {
	if len(c.Targets) == 0 {
		return nil
	}
	target = strings.ToLower(target)
	if r, ok := c.Targets[target]; ok {
		return r
	}
	host, _, _ := strings.Cut(target, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if r, ok := c.Targets[host]; ok {
		return r
	}
	for domain := host; ; {
		_, above, ok := strings.Cut(domain, ".")
		if !ok {
			return c.Targets[anyTarget]
		}
		if r, ok := c.Targets["*."+above]; ok {
			return r
		}
		domain = above
	}
}
