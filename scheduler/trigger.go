package scheduler

import (
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
	// run, which is recorded, except with Once. With Throttle, their runs start in the next periods.
	LimitRuns   int
	LimitPeriod time.Duration
	Once        bool
	Throttle    bool

	// Counts: the limit is for the job, and not for each key, until its trigger ends. A job that only events start is then
	// completed.
	Counts bool

	// Unless cancels the waiting run of the event's key if it is true; nil: none.
	Unless *expression.Program

	// End is the time at which the trigger ends, at most [EndOfTime]: events that are stored later start no run. The job
	// is then completed, unless it has a recurrence.
	End time.Time

	// Concurrency is the number of runs of a key at the same time; 0: no limit. Overlap is what happens to a further one.
	Concurrency int
	Overlap     Overlap

	// Priority orders the runs that wait for a slot of the same target, highest first.
	Priority int8

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
	Need   expression.Need     // of Filter
	Key    *expression.Program // distinguishes what the events are about; nil: one key
}

// The limits of a trigger.
const (
	maxListeners   = 16
	maxEventDelay  = 366 * 24 * time.Hour
	maxBatch       = 1000
	defaultMaxWait = 10 // debounce.max, in periods
	maxConcurrency = 256
	maxPriority    = 100
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
	return k.jobNamed(l.Job)
}

// jobNamed returns the job that jobs like k call by a name: of the own collection, or collection/job.
func (k Key) jobNamed(name string) Key {
	if of, name, ok := strings.Cut(name, "/"); ok {
		return Key{sameScope(of, k), name}
	}
	return Key{k.Collection, name}
}

// sameScope returns a collection's name, by default in the scope of k.
func sameScope(collection string, k Key) string {
	_, mark, scoped := strings.Cut(k.Collection, scopeMark)
	if !scoped || strings.Contains(collection, scopeMark) {
		return collection
	}
	return collection + scopeMark + mark
}

// readTrigger reads the trigger. Without a recurrence, the job's only time is the end of time. Its baton waits for the
// end of the trigger, and then ends the job.
func (d *Definition) readTrigger(o *document.Object, r *DefinitionDecoder) {
	to, ok := o.Object("trigger")
	if !ok {
		return
	}
	defer to.Done()
	t := &Trigger{End: EndOfTime}
	d.Trigger = t
	t.readOn(to, readListener)
	t.readDelay(to)
	t.readCollecting(to)
	t.readRequire(to)
	t.readLimit(to)
	checkOne(to, "delay", "debounce", "batch", "within", "once", "rateLimit", "throttle", "count")
	t.readUnless(to)
	t.readOverlap(to)
	priority, _ := to.Int("priority", -maxPriority, maxPriority)
	maxDepth, _ := to.Int("maxDepth", 1, MaxChain)
	t.Priority, t.MaxDepth = int8(priority), int(maxDepth)
	if end, ok := to.Time("endTime"); ok {
		t.End = Earlier(end, EndOfTime)
		if !r.Now.IsZero() && !end.After(r.Now) {
			r.warn(to, "endTime", "has passed: no event starts the job")
		}
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
func (t *Trigger) readOn(o *document.Object, read func(*document.Object) Listener) {
	if o.Describes() {
		_, _ = o.Object("on")
	}
	if v, _ := o.Value("on"); v.Kind() == document.KindObject {
		if lo, ok := o.Object("on"); ok {
			t.On = []Listener{read(lo)}
		}
		return
	}
	list, ok := o.Objects("on")
	if ok && len(list) == 0 {
		o.Problem("on", "must not be empty: name a source, a subject or a job, or omit on in a job that only others start")
	}
	if len(list) > maxListeners {
		o.Problem("on", "has %d listeners, at most %d are allowed", len(list), maxListeners)
	}
	for _, lo := range list {
		t.On = append(t.On, read(lo))
	}
}

func readListener(o *document.Object) Listener {
	l := readSelection(o)
	l.Filter = readProgram(o, "filter", expression.Condition)
	l.Key = readProgram(o, "key", expression.Text)
	o.Done()
	return l
}

// readSelection reads a listener without its programs.
func readSelection(o *document.Object) (l Listener) {
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
	l.readJob(o)
	l.readOutcome(o, string(OutcomeRecovered))
	if text, ok := o.String("filter"); ok {
		l.Need = expression.NeedOf(text)
	}
	return l
}

func (l *Listener) readJob(o *document.Object) {
	text, ok := o.String("job")
	if !ok {
		return
	}
	if k := KeyIn("", text); k.Validate() != nil {
		o.Problem("job", "%q is neither the name of a job nor collection/job", text)
	} else {
		l.Job = text
	}
}

// readOutcome reads the outcomes of a job's occurrences, by default completed.
func (l *Listener) readOutcome(o *document.Object, more ...string) {
	if o.Has("outcome") && l.Job == "" && !o.Describes() {
		o.Problem("outcome", "goes with job: events have no outcome")
	}
	words := append([]string{string(OutcomeCompleted), string(OutcomeFailed), string(OutcomeFaulted)}, more...)
	word, _ := o.Enum("outcome", append(words, "any")...)
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

// readLimit reads once, count, rateLimit and throttle.
func (t *Trigger) readLimit(o *document.Object) {
	if d, ok := o.ExactDuration("once", time.Second, maxEventDelay); ok {
		t.Once, t.LimitRuns, t.LimitPeriod = true, 1, d
	}
	if n, ok := o.Int("count", 1, maxSequences); ok {
		t.Counts, t.Once, t.LimitRuns, t.LimitPeriod = true, true, int(n), horizon
	}
	for _, name := range []string{"rateLimit", "throttle"} {
		lo, ok := o.Object(name)
		if !ok {
			continue
		}
		lo.Require("runs")
		lo.Require("period")
		n, _ := lo.Int("runs", 1, maxSequences)
		t.LimitRuns, t.Throttle = int(n), name == "throttle"
		t.LimitPeriod, _ = lo.ExactDuration("period", time.Second, maxEventDelay)
		lo.Done()
	}
}

// readOverlap reads overlap and concurrency.
func (t *Trigger) readOverlap(o *document.Object) {
	word, given := o.Enum("overlap", string(OverlapAllow), string(OverlapQueue), string(OverlapSkip), string(OverlapCancel))
	n, limited := o.Int("concurrency", 1, maxConcurrency)
	t.Overlap, t.Concurrency = Overlap(word), int(n)
	switch {
	case limited && !given:
		t.Overlap = OverlapQueue
	case limited && t.Overlap == OverlapAllow && !o.Describes():
		o.Problem("concurrency", "does not go with overlap allow, which does not limit runs: choose queue, skip or cancelOther")
	case given && t.Overlap != OverlapAllow && !limited:
		t.Concurrency = 1
	}
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
