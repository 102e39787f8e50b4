package stats

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// The limits of failure groups. With all of them reached, the groups of a process take less than a megabyte.
const (
	groupsMost = 256  // of a process; when full, the group with the fewest failures is dropped
	jobsMost   = 1000 // job names of a group
	namesMost  = 2500 // job names of all groups of a process
	targetMost = 260  // bytes
	whyMost    = 240  // bytes

	groupAge = 24 * time.Hour // after its last failure

	// quiet is how long a group must be without a failure to be resolved. A target that fails now and then would
	// otherwise alternate between the states.
	quiet = 30 * time.Second
)

// Group counts the failed attempts in a collection that have one cause: the target, the class and the type of the action.
type Group struct {
	Target     string            `json:"target"` // host and port
	Class      string            `json:"class"`  // the status of the response, or else one of [classes]
	Type       string            `json:"type"`   // of the action
	Collection string            `json:"collection"`
	Attempts   uint64            `json:"attempts,omitempty"` // failed ones
	Faulted    uint64            `json:"faulted,omitempty"`  // occurrences that failed after all retries
	Jobs       []string          `json:"jobs,omitempty"`     // names, sorted
	More       bool              `json:"more,omitempty"`     // there are other jobs
	First      time.Time         `json:"first,omitzero"`     // failure
	Last       time.Time         `json:"last"`               // failure
	Answered   time.Time         `json:"answered,omitzero"`  // a success of one of the jobs after its failure
	Minutes    []uint64          `json:"minutes,omitempty"`  // failed attempts per minute; the last element is the minute of Last
	Example    v1.FailureExample `json:"example,omitzero"`   // the latest failed attempt
}

// ended reports whether the group is resolved at a time: the target has answered, and no failure followed.
func (g *Group) ended(now time.Time) bool {
	return g.Answered.After(g.Last) && now.Sub(g.Last) >= quiet
}

// classes are the classes of failures without a status, with the words of package netreason that make them. The first
// match counts. Any other text is of the class "error": texts may contain names and times.
var classes = []struct{ words, class string }{
	{"canceled", "canceled"},
	{"panicked", "panic"},
	{"timed out", "timeout"},
	{"the host is silent", "timeout"},
	{"TLS: ", "TLS"},
	{"name not found", "name not found"},
	{"name lookup", "name lookup"},
	{"connection refused", "connection refused"},
	{"connection reset", "connection reset"},
	{"connection closed", "connection closed"},
	{"connection aborted", "connection closed"},
	{"no connection within", "timeout"},
	{"unreachable", "unreachable"},
}

// classOf returns the class of a failure without a status.
func classOf(r *scheduler.Record) string {
	if r.Reason != "" {
		return string(r.Reason)
	}
	text := r.Short()
	text = text[:min(len(text), 2*whyMost)]
	for i := range classes {
		if strings.Contains(text, classes[i].words) {
			return classes[i].class
		}
	}
	return "error"
}

// cause identifies a [Group]. It holds the status as a number, because a text would be allocated for each failure.
type cause struct {
	target, class, kind, collection string
	status                          int
}

func causeOf(r *scheduler.Record) cause {
	c := cause{target: scheduler.CutText(r.Target, targetMost), kind: r.Type, collection: r.Job.Collection, status: r.Status}
	if r.Status == 0 {
		c.class = classOf(r)
	}
	return c
}

// group is a [Group] in memory.
type group struct {
	cause

	attempts, faulted     uint64
	jobs                  map[string]struct{}
	known                 []string // jobs that the reports of all processes name, sorted
	more                  bool
	first, last, answered time.Time
	minutes               [60]uint32 // ring buffer by the minute modulo 60, up to the minute of last
	example               failure
}

// failure holds the data of a [v1.FailureExample], which is formatted on request only.
type failure struct {
	job               scheduler.Key
	occurrence        string
	at                time.Time
	status            int
	summary, response string
}

func (f *failure) shown() v1.FailureExample {
	why := v1.Answer(&scheduler.Record{Status: f.status, Summary: f.summary, Response: f.response})
	text := scheduler.CutText(why, whyMost)
	if len(text) < len(why) {
		text += "…"
	}
	return v1.FailureExample{Job: f.job.String(), Occurrence: f.occurrence, At: f.at.UTC(), Answer: text}
}

// groups are the failure groups of a process.
type groups struct {
	by      map[cause]*group
	of      map[string][]*group // by target: all that a success looks at
	names   int                 // in the jobs of all groups
	changed bool                // since the last ChangedGroups
}

// add counts a failed attempt or a faulted occurrence.
func (g *groups) add(r *scheduler.Record, of cause, at time.Time) {
	one := g.group(of)
	if one.answered.After(one.last) && at.Sub(one.last) >= quiet { // it was resolved, and fails again
		g.reset(one)
	}
	failed := uint32(0)
	if r.Outcome == scheduler.OutcomeFailed {
		failed = 1
		one.attempts++
	} else {
		one.faulted++
	}
	if failed == 1 || one.example.at.IsZero() { // a faulted record has no response
		one.example = failure{r.Job, r.Occurrence, at, r.Status, r.Short(), r.Response}
	}
	if _, known := one.jobs[r.Job.Job]; !known {
		if len(one.jobs) < jobsMost && g.names < namesMost {
			one.jobs[r.Job.Job] = struct{}{}
			g.names++
		} else {
			one.more = true
		}
	}
	if one.first.IsZero() || at.Before(one.first) {
		one.first = at
	}
	one.tick(at, failed)
	g.changed = true
}

// reset clears the counts from before a group was resolved.
func (g *groups) reset(one *group) {
	g.names -= len(one.jobs)
	one.attempts, one.faulted, one.known, one.more, one.first = 0, 0, nil, false, time.Time{}
	clear(one.jobs)
}

// tick counts failures at a time.
func (g *group) tick(at time.Time, n uint32) {
	minute, last := at.Unix()/60, g.last.Unix()/60
	if at.After(g.last) {
		for m := max(last+1, minute-59); m <= minute; m++ {
			g.minutes[m%60] = 0
		}
		g.last, last = at, minute
	}
	if last-minute < 60 {
		g.minutes[minute%60] += n
	}
}

// answer notes that a target has answered a job whose attempts had failed.
func (g *groups) answer(r *scheduler.Record, at time.Time) {
	if len(g.of) == 0 {
		return
	}
	for _, one := range g.of[scheduler.CutText(r.Target, targetMost)] {
		if one.kind != r.Type || one.collection != r.Job.Collection || !at.After(one.last) || one.answered.After(one.last) {
			continue
		}
		_, own := one.jobs[r.Job.Job]
		if !own {
			_, own = slices.BinarySearch(one.known, r.Job.Job)
		}
		if own {
			one.answered, g.changed = at, true
		}
	}
}

// group returns the group of a cause. Without room for a new one, it replaces the group with the fewest failures.
func (g *groups) group(c cause) *group {
	if one := g.by[c]; one != nil {
		return one
	}
	if g.by == nil {
		g.by, g.of = map[cause]*group{}, map[string][]*group{}
	}
	one := &group{}
	if len(g.by) >= groupsMost {
		one = nil
		for _, other := range g.by {
			if one == nil || cmp.Or(cmp.Compare(other.attempts, one.attempts), other.last.Compare(one.last)) < 0 {
				one = other
			}
		}
		g.drop(one)
	}
	jobs := one.jobs
	if jobs == nil {
		jobs = map[string]struct{}{}
	}
	clear(jobs)
	*one = group{cause: c, jobs: jobs}
	g.by[c] = one
	g.of[c.target] = append(g.of[c.target], one)
	return one
}

func (g *groups) drop(one *group) {
	delete(g.by, one.cause)
	g.names -= len(one.jobs)
	left := slices.DeleteFunc(g.of[one.target], func(other *group) bool { return other == one })
	if g.of[one.target] = left; len(left) == 0 {
		delete(g.of, one.target)
	}
}

// adopt adds the state of a group in all processes, so that a success in this process resolves it.
func (g *groups) adopt(other *Group, now time.Time) {
	c := cause{target: other.Target, kind: other.Type, collection: other.Collection, class: other.Class}
	if status, err := strconv.Atoi(other.Class); err == nil {
		c.class, c.status = "", status
	}
	one := g.by[c]
	if one == nil {
		if other.ended(now) || len(g.by) >= groupsMost {
			return
		}
		one = g.group(c)
	}
	if !one.first.IsZero() && one.first.Before(other.First) { // it was resolved elsewhere
		g.reset(one)
	}
	one.known = other.Jobs
	if other.Answered.After(one.answered) {
		one.answered = other.Answered
	}
	if other.Last.After(one.last) {
		one.tick(other.Last, 0)
	}
}

// shown returns the groups that other processes need.
func (g *groups) shown(now time.Time) []Group {
	var all []Group
	for _, one := range g.by {
		if now.Sub(one.last) > groupAge {
			g.drop(one)
			continue
		}
		if one.first.IsZero() && one.answered.IsZero() {
			continue // of other processes
		}
		out := Group{
			Target: one.target, Class: one.class, Type: one.kind, Collection: one.collection, Attempts: one.attempts, Faulted: one.faulted,
			Jobs: slices.Sorted(maps.Keys(one.jobs)), More: one.more,
			First: one.first.UTC(), Last: one.last.UTC(), Answered: one.answered.UTC(),
		}
		if one.status != 0 {
			out.Class = strconv.Itoa(one.status)
		}
		if !one.example.at.IsZero() {
			out.Example = one.example.shown()
		}
		latest := one.last.Unix() / 60
		for m := latest - 59; m <= latest; m++ {
			if n := one.minutes[m%60]; n > 0 || out.Minutes != nil {
				out.Minutes = append(out.Minutes, uint64(n))
			}
		}
		all = append(all, out)
	}
	return all
}

// Groups returns the failure groups of the process in no order.
func (r *Recorder) Groups(now time.Time) []Group {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.groups.shown(now)
}

// ChangedGroups calls f with the encoded failure groups if they have changed since the last call. If f returns false,
// the next call repeats them.
func (r *Recorder) ChangedGroups(now time.Time, f func(data []byte) bool) {
	r.mu.Lock()
	changed := r.groups.changed
	r.groups.changed = false
	var all []Group
	if changed {
		all = r.groups.shown(now)
	}
	r.mu.Unlock()
	if !changed {
		return
	}
	data, err := json.Marshal(all)
	if err != nil || !f(data) {
		r.mu.Lock()
		r.groups.changed = true
		r.mu.Unlock()
	}
}

// Adopt informs the recorder about the groups of all processes, [Board.Groups].
func (r *Recorder) Adopt(all []Group, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range all {
		r.groups.adopt(&all[i], now)
	}
}

// ReadGroups decodes the output of [Recorder.ChangedGroups].
func ReadGroups(data []byte) (all []Group, err error) {
	err = json.Unmarshal(data, &all)
	return all, err
}
