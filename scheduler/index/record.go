package index

import (
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

	labels unique.Handle[labels]
	target unique.Handle[string] // see [scheduler.Definition.Address]
	action unique.Handle[string] // the type
	told   uint64                // the last announced or read revision of the definition
	next   int64                 // the next run, in Unix milliseconds; 0: none or unknown
	last   int64                 // the start of the last attempt, in Unix seconds; 0: none or unknown
	paused int64                 // the end of the pause, in Unix milliseconds; it may have passed
	at     int64                 // when next or the definition last changed, see [Index.clock]
	tag    uint16                // of the incarnation
	state  state
	flags  flags
	upper  bool // the name has capital letters
	ended  ended
}

// flags say what to read before the record is reliable.
type flags uint8

const (
	changed flags = 1 << iota // the definition changed
	moved                     // the baton may have changed, with the definition or after it
	missing                   // changed, but not found: deleted, or not yet on a replica that lags behind
	unseen                    // the index has not read the baton since it moved or was due
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
