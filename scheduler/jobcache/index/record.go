package index

import (
	"context"
	"slices"
	"strings"
	"unique"

	"github.com/carillon-sched/carillon/scheduler"
)

// key is the key of a job.
type key struct { //nolint:recvcheck // records embed it
	collection unique.Handle[string]
	name       string
}

// record is the knowledge about a job.
type record struct {
	key

	labels   unique.Handle[labels]
	does     unique.Handle[call]
	revision uint64 // the last announced or read revision of the definition
	next     int64  // the next run, in Unix milliseconds; 0: none or unknown
	last     int64  // the start of the last attempt, in Unix seconds; 0: none or unknown
	paused   int64  // the end of the pause, in Unix milliseconds; it may have passed
	at       int64  // when next or the definition last changed, see [Index.clock]
	tag      uint16 // of the incarnation
	state    state
	flags    flags
	upper    bool // the name has capital letters
	hears    bool // the job has a trigger
	loaded   bool // from a snapshot, and not yet compared with the store, see [Index.confirm]
	ended    ended
}

// call is the action of a job, see [scheduler.Summary].
type call struct{ Action, Address, Target string }

// flags say what to read before the record is reliable.
type flags uint8

const (
	changed flags = 1 << iota // the definition changed
	moved                     // the baton may have changed, with the definition or after it
	missing                   // changed, but not found: deleted, or not yet on a replica that lags behind
	unseen                    // the index has not read the baton since it moved
)

// state is an index into states.
type state uint8

const (
	unknown state = iota
	enabled
	disabled
	completed
	faulted
	damaged
)

var states = []scheduler.State{
	enabled: scheduler.Enabled, disabled: scheduler.Disabled, completed: scheduler.Completed, faulted: scheduler.Faulted,
	damaged: scheduler.Damaged,
}

// stateOf returns unknown for the empty state.
func stateOf(name scheduler.State) state { return state(max(slices.Index(states, name), 0)) }

func keyOf(k scheduler.Key) key { return key{unique.Make(k.Collection), k.Job} }

func (k key) full() scheduler.Key {
	return scheduler.Key{Collection: k.collection.Value(), Job: k.name}
}

// compare orders jobs by collection and name.
func (k *key) compare(other *key) int {
	if k.collection != other.collection {
		return strings.Compare(k.collection.Value(), other.collection.Value())
	}
	return strings.Compare(k.name, other.name)
}

// labels is a set of labels as a list: a label and a handle of the others. The empty set is the zero value.
type labels struct {
	scheduler.Label

	others unique.Handle[labels]
}

var noLabels = unique.Make(labels{})

func labelSet(of []scheduler.Label) unique.Handle[labels] {
	set := noLabels
	for _, l := range slices.SortedFunc(slices.Values(of), func(a, b scheduler.Label) int { return strings.Compare(b.Name, a.Name) }) {
		set = unique.Make(labels{l, set})
	}
	return set
}

// get returns the value of one label of a set.
func (l labels) get(name string) (value string, found bool) {
	for ; l.Name != ""; l = l.others.Value() {
		if l.Name == name {
			return l.Value, true
		}
	}
	return "", false
}

// list returns the labels of a set.
func (l labels) list() (all []scheduler.Label) {
	for ; l.Name != ""; l = l.others.Value() {
		all = append(all, l.Label)
	}
	return all
}

// ended is an index into [scheduler.LastOutcomes], the result of a job's last run.
type ended uint8

const (
	untold  ended = iota // the baton does not contain the result, and the history has not been read
	nowhere              // the history does not contain it either
	firstEnded
)

// endedAs returns the number of an outcome.
func endedAs(o scheduler.Outcome) ended {
	if i := slices.Index(scheduler.LastOutcomes, o); i >= 0 {
		return firstEnded + ended(i)
	}
	return untold
}

// lastRun is the result and the time of a job's last run, as far as known.
type lastRun struct {
	last  int64 // in Unix seconds
	ended ended
}

// endingOf derives it from the job's progress and its baton, which may be nil.
func endingOf(p *scheduler.Progress, b *scheduler.Baton) lastRun {
	e := lastRun{ended: endedAs(scheduler.LastOutcome(p, b, nil))}
	if !p.Last.IsZero() {
		e.last = max(p.Last.Unix(), 1)
	}
	return e
}

// readEndings reads the history of the jobs whose last result is otherwise unknown.
func (x *Index) readEndings(ctx context.Context, hits []Hit) error {
	before := map[scheduler.Key]record{}
	var keys []scheduler.Key
	x.mu.RLock()
	for _, h := range hits {
		if r := x.get(h.Key); r != nil && r.ended == untold {
			before[h.Key] = *r
			keys = append(keys, h.Key)
		}
	}
	x.mu.RUnlock()
	if len(keys) == 0 {
		return nil
	}
	newest := map[scheduler.Key]*scheduler.Record{}
	err := x.cfg.Store.LastRecords(ctx, keys, scheduler.Outcomes, func(r *scheduler.Record) {
		was := before[r.Job]
		if tag := tagOf(r.UID); tag != 0 && was.tag != 0 && tag != was.tag {
			return // of an earlier job with the same name
		}
		if old := newest[r.Job]; old == nil || r.Sequence > old.Sequence {
			newest[r.Job] = r
		}
	})
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, was := range before {
		r := x.get(k)
		if r == nil || r.ended != untold || r.next != was.next || r.revision != was.revision || r.last != was.last {
			continue
		}
		r.ended = nowhere
		if last := newest[k]; last != nil {
			r.ended = endedAs(last.Outcome)
		}
	}
	return nil
}
