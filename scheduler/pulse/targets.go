package pulse

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Target is how a target does.
type Target struct {
	Name       string        `json:"name"`                 // host and port
	Collection string        `json:"collection,omitempty"` // whose rule it is that holds; "": nobody's, or not known
	State      string        `json:"state,omitempty"`      // one of the states below; "": nothing is wrong but what Failed and Mean tell
	Until      time.Time     `json:"until,omitzero"`       // when State open ends
	InFlight   int           `json:"inFlight,omitempty"`   // attempts
	Queued     int           `json:"queued,omitempty"`     // runs that wait for one to end
	Attempts   uint64        `json:"attempts,omitempty"`   // in the last five to ten minutes
	Failed     uint64        `json:"failed,omitempty"`     // of these
	Mean       time.Duration `json:"mean,omitempty"`       // how long they took
	Longest    time.Duration `json:"longest,omitempty"`
}

// The states of targets.
const (
	TargetOpen    = "open"    // its circuit is: runs are put off
	TargetHalf    = "half"    // its circuit is half open: one attempt finds out whether it is back
	TargetSlow    = "slow"    // attempts take longer than a second, so that it gets fewer slots
	TargetLimited = "limited" // runs wait because of a rule of its collection
)

// The bounds of what is known of targets.
const (
	targetWindow = 5 * time.Minute
	targetsMost  = 256         // in a window; the least troubled half makes room for others
	slowFrom     = time.Second // a mean from which a target is told of
)

// targets knows what attempts at targets came to, in the present window of time and the one before.
type targets struct {
	begun  time.Time
	window [2]window
}

// window is a window of time.
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

// turn begins another window when the present one is over.
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

// target returns the tally as others are told it.
func (t *tally) target() Target {
	return Target{
		Name: t.name, Attempts: t.attempts, Failed: t.failed, Longest: t.longest,
		Mean: t.total / time.Duration(max(t.attempts, 1)),
	}
}

// worst returns targets in trouble, the worst first.
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

// troubled reports whether a target is worth a look.
func (t *Target) troubled() bool { return t.State != "" || t.Failed > 0 || t.Mean >= slowFrom }

// merged adds what two know of a target. The state that holds more back counts.
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

// rank orders the states of targets by how much they hold back.
func rank(state string) int {
	return slices.Index([]string{"", TargetLimited, TargetSlow, TargetHalf, TargetOpen}, state)
}

// byTrouble orders targets, the most troubled first.
func byTrouble(a, b Target) int {
	return cmp.Or(
		cmp.Compare(rank(b.State), rank(a.State)), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.Mean, a.Mean),
		cmp.Compare(b.Queued, a.Queued), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Collection, b.Collection),
	)
}
