package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Target is the health of a target.
type Target struct {
	Name       string        `json:"name"`                 // host and port
	Collection string        `json:"collection,omitempty"` // owner of the rule in effect; "": none or unknown
	State      string        `json:"state,omitempty"`      // one of the states below; "": see Failed and Mean
	Until      time.Time     `json:"until,omitzero"`       // end of the open state
	InFlight   int           `json:"inFlight,omitempty"`   // attempts
	Queued     int           `json:"queued,omitempty"`     // runs that wait for a slot
	Attempts   uint64        `json:"attempts,omitempty"`   // in the last five to ten minutes
	Failed     uint64        `json:"failed,omitempty"`     // failed attempts
	Mean       time.Duration `json:"mean,omitempty"`       // mean duration of an attempt
	Longest    time.Duration `json:"longest,omitempty"`
}

// The states of a target.
const (
	TargetOpen    = "open"    // its circuit breaker is open: runs are postponed
	TargetHalf    = "half"    // its circuit breaker is half open: a probe checks whether the target has recovered
	TargetSlow    = "slow"    // its attempts take longer than a second, so it gets fewer slots
	TargetLimited = "limited" // runs wait because of a collection's rule
)

// The limits of target tracking.
const (
	targetWindow = 5 * time.Minute
	targetsMost  = 256         // per window; when full, the less troubled half is dropped
	slowFrom     = time.Second // mean duration from which a target counts as troubled
)

// targets tracks the results of attempts in the current and the previous time window.
type targets struct {
	begun  time.Time
	window [2]window
}

// window holds the results of a time window.
type window struct {
	by    map[string]int32
	tally []tally
}

type tally struct {
	name             string
	attempts, failed uint64
	total, longest   time.Duration
}

// add counts an attempt.
func (t *targets) add(rec *scheduler.Record, now time.Time) {
	if rec.Target == "" {
		return
	}
	t.turn(now)
	w := &t.window[0]
	i, known := w.by[rec.Target]
	if !known {
		i = w.insert(rec.Target)
	}
	one := &w.tally[i]
	one.attempts++
	if rec.Outcome == scheduler.OutcomeFailed {
		one.failed++
	}
	one.total += rec.Duration
	one.longest = max(one.longest, rec.Duration)
}

// turn starts a new window when the current one has ended.
func (t *targets) turn(now time.Time) {
	passed := now.Sub(t.begun)
	if passed >= 0 && passed < targetWindow {
		return
	}
	t.begun = now
	t.window[0], t.window[1] = t.window[1], t.window[0]
	t.window[0].clear()
	if passed >= 2*targetWindow || passed < 0 {
		t.window[1].clear()
	}
}

func (w *window) clear() {
	clear(w.by)
	w.tally = w.tally[:0]
}

func (w *window) insert(name string) int32 {
	if w.by == nil {
		w.by = make(map[string]int32, targetsMost)
	}
	if len(w.tally) == targetsMost {
		slices.SortFunc(w.tally, func(a, b tally) int { return byTrouble(a.target(), b.target()) })
		w.tally = w.tally[:targetsMost/2]
		clear(w.by)
		for i := range w.tally {
			w.by[w.tally[i].name] = int32(i)
		}
	}
	i := int32(len(w.tally))
	w.tally = append(w.tally, tally{name: name})
	w.by[name] = i
	return i
}

// target returns the published form of the tally.
func (t *tally) target() Target {
	return Target{
		Name: t.name, Attempts: t.attempts, Failed: t.failed, Longest: t.longest,
		Mean: t.total / time.Duration(max(t.attempts, 1)),
	}
}

// worst returns the most troubled targets, worst first.
func (t *targets) worst(now time.Time, most int) []Target {
	t.turn(now)
	all := map[string]Target{}
	for i := range t.window {
		for _, one := range t.window[i].tally {
			all[one.name] = merged(all[one.name], one.target())
		}
	}
	var out []Target
	for _, one := range all {
		if one.troubled() {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, byTrouble)
	return out[:min(len(out), most)]
}

// troubled reports whether to show a target.
func (t *Target) troubled() bool { return t.State != "" || t.Failed > 0 || t.Mean >= slowFrom }

// merged combines the data of two sources about a target. The more restrictive state wins.
func merged(a, b Target) Target {
	n := a.Attempts + b.Attempts
	out := Target{
		Name: b.Name, Collection: b.Collection, State: a.State, Until: a.Until,
		InFlight: a.InFlight + b.InFlight, Queued: a.Queued + b.Queued,
		Attempts: n, Failed: a.Failed + b.Failed, Longest: max(a.Longest, b.Longest),
	}
	if n > 0 {
		out.Mean = time.Duration((float64(a.Mean)*float64(a.Attempts) + float64(b.Mean)*float64(b.Attempts)) / float64(n))
	}
	if rank(b.State) > rank(a.State) || b.State == a.State && b.Until.After(a.Until) {
		out.State, out.Until = b.State, b.Until
	}
	return out
}

// rank orders the states, least restrictive first.
func rank(state string) int {
	return slices.Index([]string{"", TargetLimited, TargetSlow, TargetHalf, TargetOpen}, state)
}

// byTrouble orders targets, most troubled first.
func byTrouble(a, b Target) int {
	return cmp.Or(
		cmp.Compare(rank(b.State), rank(a.State)), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Mean, a.Mean),
		cmp.Compare(b.Queued, a.Queued), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Collection, b.Collection),
	)
}
