package scheduler

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/expression"
)

// Trigger starts runs of a job by events, with or instead of its recurrence. An event that matches a listener starts a
// separate run (see [Triggered]), unless the trigger collects the events of a key or delays their run.
type Trigger struct {
	On []Listener // any of them

	// Delay is the time from an event to its run; 0: none. DelayUntil computes the time of the run instead; nil: none.
	// If the listener has a key, a later event of the key replaces a run that still waits.
	Delay      time.Duration
	DelayUntil *expression.Program

	// Debounce starts one run for the events of a key, when none has come for this long; 0: every event starts one.
	// DebounceMax is the longest wait since the first of them.
	Debounce    time.Duration
	DebounceMax time.Duration

	// Batch starts one run for the events of a key: when it has so many, or BatchWait after the first; 0: no batches.
	Batch     int
	BatchWait time.Duration

	// Within starts one run when an event of each listener has come for a key, at most so long after the first; 0: an
	// event of any listener starts one. Then the run is skipped, or runs with the events that have come (RunPartial).
	Within     time.Duration
	RunPartial bool

	// LimitRuns is the number of runs of a key within LimitPeriod after the first; 0: no limit. Further events start no
	// run, which is recorded, except with Once.
	LimitRuns   int
	LimitPeriod time.Duration
	Once        bool

	// Unless cancels the waiting run of the event's key if it is true; nil: none.
	Unless *expression.Program

	// MaxDepth allows the job to be part of a cycle of jobs, and is the number of jobs after which a chain ends; 0:
	// no cycle.
	MaxDepth int
}

// Listener selects events: published ones by Source or Subject, or the ends of occurrences of another job.
type Listener struct {
	Source  string    // name of an event in the job's own collection
	Subject string    // <collection>.<name> of an event
	Job     string    // name of a job in the own collection, or collection/job
	Outcome []Outcome // of the job's occurrence

	Filter *expression.Program // nil: all events
	Key    *expression.Program // distinguishes what the events are about; nil: one key
}

// The limits of a trigger.
const (
	maxListeners   = 16
	maxEventDelay  = 366 * 24 * time.Hour
	maxBatch       = 1000
	defaultMaxWait = 10 // debounce.max, in periods
)

// topic returns the topic that l selects for a job; zero for none.
func (l *Listener) topic(k Key) Topic {
	switch {
	case l.Source != "":
		return Topic{k.Collection, l.Source}
	case l.Subject != "":
		collection, name, _ := strings.Cut(l.Subject, ".")
		return Topic{sameScope(collection, k), name}
	}
	return Topic{}
}

// upstream returns the job that l selects for a job; zero for none.
func (l *Listener) upstream(k Key) Key {
	if l.Job == "" {
		return Key{}
	}
	if of, name, ok := strings.Cut(l.Job, "/"); ok {
		return Key{sameScope(of, k), name}
	}
	return Key{k.Collection, l.Job}
}

// sameScope returns a collection's name, by default in the scope of k.
func sameScope(collection string, k Key) string {
	_, mark, scoped := strings.Cut(k.Collection, scopeMark)
	if !scoped || strings.Contains(collection, scopeMark) {
		return collection
	}
	return collection + scopeMark + mark
}

// Heard is what a job listens to.
type Heard struct {
	Topics []Topic `json:"topics,omitempty"`
	Jobs   []Key   `json:"jobs,omitempty"`
}

// IsEmpty reports whether the job has no trigger.
func (h Heard) IsEmpty() bool { return len(h.Topics)+len(h.Jobs) == 0 }

// Equal reports whether both listen to the same in the same order.
func (h Heard) Equal(other Heard) bool {
	return slices.Equal(h.Topics, other.Topics) && slices.Equal(h.Jobs, other.Jobs)
}

// Includes reports whether h listens to all that other does.
func (h Heard) Includes(other Heard) bool {
	sum := other.Union(h)
	return len(sum.Topics) == len(h.Topics) && len(sum.Jobs) == len(h.Jobs)
}

// Union returns what h or other listens to, first what only h does.
func (h Heard) Union(other Heard) Heard {
	return Heard{union(h.Topics, other.Topics), union(h.Jobs, other.Jobs)}
}

func union[T comparable](a, b []T) []T {
	inB := func(one T) bool { return slices.Contains(b, one) }
	return append(slices.DeleteFunc(slices.Clone(a), inB), b...)
}

// Hears returns what the job k of the definition listens to.
func (d *Definition) Hears(k Key) Heard {
	if d.Trigger == nil {
		return Heard{}
	}
	return hears(k, d.Trigger.On)
}

// StoredHears returns what a stored job listens to without decoding the rest, nothing if it cannot be decoded.
func StoredHears(k Key, data []byte) Heard { return hears(k, StoredListeners(data)) }

// StoredListeners returns the listeners of a stored job without their expressions, none if it cannot be decoded.
func StoredListeners(data []byte) []Listener {
	_, properties, err := SplitStored(data)
	if err != nil || !bytes.Contains(properties, []byte(`"trigger":`)) {
		return nil
	}
	var p struct {
		Trigger struct {
			On json.RawMessage `json:"on"`
		} `json:"trigger"`
	}
	if json.Unmarshal(properties, &p) != nil {
		return nil
	}
	text := p.Trigger.On
	if bytes.HasPrefix(text, []byte("{")) {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	var named []struct {
		Source  string `json:"source"`
		Subject string `json:"subject"`
		Job     string `json:"job"`
		Outcome string `json:"outcome"`
	}
	_ = json.Unmarshal(text, &named)
	on := make([]Listener, len(named))
	for i, l := range named {
		on[i] = Listener{Source: l.Source, Subject: l.Subject, Job: l.Job}
		on[i].setOutcome(strings.ToLower(l.Outcome))
	}
	return on
}

// From returns the topic or the job that l selects for the job k; the other one is zero.
func (l *Listener) From(k Key) (Topic, Key) { return l.topic(k), l.upstream(k) }

func hears(k Key, on []Listener) (h Heard) {
	for i := range on {
		l := &on[i]
		if t := l.topic(k); t != (Topic{}) && !slices.Contains(h.Topics, t) {
			h.Topics = append(h.Topics, t)
		}
		if u := l.upstream(k); u != (Key{}) && !slices.Contains(h.Jobs, u) {
			h.Jobs = append(h.Jobs, u)
		}
	}
	return h
}

// readTrigger reads the trigger. Without a recurrence, the job's only time is the end of time: its baton waits, and
// never becomes due.
func (d *Definition) readTrigger(o *document.Object) {
	to, ok := o.Object("trigger")
	if !ok {
		return
	}
	defer to.Done()
	t := &Trigger{}
	d.Trigger = t
	if to.Require("on") {
		t.readOn(to)
	}
	t.readDelay(to)
	t.readCollecting(to)
	t.readRequire(to)
	t.readLimit(to)
	checkOne(to, "delay", "debounce", "batch", "within", "once", "rateLimit")
	t.readUnless(to)
	if n, ok := to.Int("maxDepth", 1, MaxChain); ok {
		t.MaxDepth = int(n)
	}
	if d.Timing.Recurrence != nil {
		return
	}
	if o.Has("startTime") && !o.Describes() {
		o.Problem("startTime", "goes with recurrence if the job has a trigger: events start the job at any time")
	}
	d.Timing.Start = EndOfTime
}

// EndOfTime is the time of a job that only events start.
var EndOfTime = time.Date(lastYear, 12, 31, 23, 59, 59, 999_999_999, time.UTC)

// readOn reads the listeners: an object, or an array of objects.
func (t *Trigger) readOn(o *document.Object) {
	if o.Describes() {
		_, _ = o.Object("on")
	}
	if v, _ := o.Value("on"); v.Kind() == document.KindObject {
		if lo, ok := o.Object("on"); ok {
			t.On = []Listener{readListener(lo)}
		}
		return
	}
	list, ok := o.Objects("on")
	if ok && len(list) == 0 {
		o.Problem("on", "must not be empty: name a source, a subject or a job")
	}
	if len(list) > maxListeners {
		o.Problem("on", "has %d listeners, at most %d are allowed", len(list), maxListeners)
	}
	for _, lo := range list {
		t.On = append(t.On, readListener(lo))
	}
}

func readListener(o *document.Object) (l Listener) {
	defer o.Done()
	if given := o.RequireOne("source", "subject", "job"); len(given) > 1 {
		o.Problem(given[1], "does not go with %s: write two listeners", given[0])
	}
	if name, ok := o.String("source"); ok && reportName(o, "source", ValidateName("source", name)) {
		l.Source = name
	}
	if text, ok := o.String("subject"); ok {
		if of, name, ok := strings.Cut(text, "."); !ok || ValidateCollection(of) != nil || ValidateName("", name) != nil {
			o.Problem("subject", "%q is not <collection>.<event>, such as sales.orders", text)
		} else {
			l.Subject = text
		}
	}
	if text, ok := o.String("job"); ok {
		if k := KeyIn("", text); k.Validate() != nil {
			o.Problem("job", "%q is neither the name of a job nor collection/job", text)
		} else {
			l.Job = text
		}
	}
	l.readOutcome(o)
	l.Filter = readProgram(o, "filter", expression.Condition)
	l.Key = readProgram(o, "key", expression.Text)
	return l
}

// readOutcome reads the outcomes of a job's occurrences, by default completed.
func (l *Listener) readOutcome(o *document.Object) {
	if o.Has("outcome") && l.Job == "" && !o.Describes() {
		o.Problem("outcome", "goes with job: events have no outcome")
	}
	words := []string{string(OutcomeCompleted), string(OutcomeFailed), string(OutcomeFaulted), "any"}
	word, _ := o.Enum("outcome", words...)
	l.setOutcome(word)
}

func (l *Listener) setOutcome(word string) {
	switch {
	case word == "any":
		l.Outcome = []Outcome{OutcomeCompleted, OutcomeFaulted}
	case word != "":
		l.Outcome = []Outcome{Outcome(word)}
	default:
		l.Outcome = []Outcome{OutcomeCompleted}
	}
}

// readDelay reads delay: a duration, or an expression.
func (t *Trigger) readDelay(o *document.Object) {
	text, ok := o.String("delay")
	if !ok {
		return
	}
	if d, err := document.ParseDuration(text); err == nil {
		if d.Months == 0 && d.Exact > 0 && d.Exact <= maxEventDelay {
			t.Delay = d.Exact
		} else {
			o.Problem("delay", "%s is not a duration from 1 ms to %s without months", d, document.Duration{Exact: maxEventDelay})
		}
		return
	}
	t.DelayUntil = readProgram(o, "delay", expression.Instant)
}

// readCollecting reads debounce and batch.
func (t *Trigger) readCollecting(o *document.Object) {
	if do, ok := o.Object("debounce"); ok {
		do.Require("period")
		t.Debounce, _ = do.ExactDuration("period", time.Second, maxEventDelay)
		t.DebounceMax = min(defaultMaxWait*t.Debounce, maxEventDelay)
		if d, ok := do.ExactDuration("max", time.Second, maxEventDelay); ok && do.NotShorter("max", d, t.Debounce) {
			t.DebounceMax = d
		}
		do.Done()
	}
	if bo, ok := o.Object("batch"); ok {
		bo.Require("size")
		bo.Require("wait")
		n, _ := bo.Int("size", 2, maxBatch)
		t.Batch = int(n)
		t.BatchWait, _ = bo.ExactDuration("wait", time.Second, maxEventDelay)
		bo.Done()
	}
}

// readUnless reads unless. It cancels what waits, of the same key.
func (t *Trigger) readUnless(o *document.Object) {
	t.Unless = readProgram(o, "unless", expression.Condition)
	keyed := slices.ContainsFunc(t.On, func(l Listener) bool { return l.Key != nil })
	switch {
	case t.Unless == nil:
	case t.LimitRuns > 0 || !t.collects() && t.Delay == 0 && t.DelayUntil == nil:
		o.Problem("unless", "goes with delay, debounce, batch or require all: otherwise no run waits that it could cancel")
	case !keyed && !t.collects():
		o.Problem("unless", "requires a key in on: otherwise each event replaces the run of the one before")
	}
}

// readRequire reads require, within and otherwise.
func (t *Trigger) readRequire(o *document.Object) {
	all, _ := o.Enum("require", "any", "all")
	if all == "all" && o.Require("within") || o.Describes() {
		t.Within, _ = o.ExactDuration("within", time.Second, maxEventDelay)
		word, _ := o.Enum("otherwise", "skip", "run")
		t.RunPartial = word == "run"
	}
	if all == "all" && len(t.On) < 2 && !o.Describes() {
		o.Problem("require", "needs two or more listeners in on")
	}
	for _, name := range []string{"within", "otherwise"} {
		if all != "all" && !o.Describes() {
			o.Refuse(name, "goes with require all")
		}
	}
}

// readLimit reads once and rateLimit.
func (t *Trigger) readLimit(o *document.Object) {
	if d, ok := o.ExactDuration("once", time.Second, maxEventDelay); ok {
		t.Once, t.LimitRuns, t.LimitPeriod = true, 1, d
	}
	lo, ok := o.Object("rateLimit")
	if !ok {
		return
	}
	defer lo.Done()
	lo.Require("runs")
	lo.Require("period")
	n, _ := lo.Int("runs", 1, maxSequences)
	t.LimitRuns = int(n)
	t.LimitPeriod, _ = lo.ExactDuration("period", time.Second, maxEventDelay)
}

// checkOne reports fields that exclude each other.
func checkOne(o *document.Object, names ...string) {
	var given []string
	for _, name := range names {
		if o.Holds(name) {
			given = append(given, name)
		}
	}
	if len(given) > 1 && !o.Describes() {
		o.Problem(given[1], "does not go with %s: choose one", given[0])
	}
}

// readProgram reads and compiles an expression; nil if it is absent or wrong.
func readProgram(o *document.Object, name string, compile func(string) (*expression.Program, error)) *expression.Program {
	text, ok := o.String(name)
	if !ok {
		return nil
	}
	p, err := compile(text)
	if err != nil {
		o.Problem(name, "%v", err)
		return nil
	}
	return p
}

// reportName reports a name that is wrong, and returns whether it is right.
func reportName(o *document.Object, field string, err error) bool {
	for _, p := range ProblemsIn(err) {
		o.Problem(field, "%s", p.Message)
	}
	return err == nil
}
