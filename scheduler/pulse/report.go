package pulse

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Report is what a process says of itself.
type Report struct {
	ID      string    `json:"id"`   // no other process has it, nor this one after a restart
	Name    string    `json:"name"` // for people: of the machine
	Version string    `json:"version"`
	Server  string    `json:"server,omitempty"` // of NATS, to which it is connected
	Since   time.Time `json:"since"`            // its start
	At      time.Time `json:"at"`               // when it says this
	Stopped bool      `json:"stopped,omitempty"`

	InFlight int `json:"inFlight"` // attempts
	Queued   int `json:"queued"`   // due runs that wait for a slot
	Held     int `json:"held"`     // batons that wait for their instant

	Running []Running `json:"running,omitempty"` // the longest attempts
	Targets []Target  `json:"targets,omitempty"` // the most troubled
	Audit   *Audit    `json:"audit,omitempty"`   // its last; nil: there was none yet
}

// The bounds of a report.
const (
	RunningMost = 20
	TargetsMost = 20
	lostMost    = 5
)

// Running is an attempt that is under way.
type Running struct {
	Job        string    `json:"job"` // collection/job
	Occurrence time.Time `json:"occurrence"`
	Attempt    int       `json:"attempt"` // 1: the first
	Since      time.Time `json:"since"`
	Target     string    `json:"target,omitempty"`
}

// Audit is what an audit of jobs and batons came to.
type Audit struct {
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"took,omitempty"`
	Jobs    int           `json:"jobs,omitempty"`
	Found   int           `json:"found,omitempty"`  // problems
	Mended  int           `json:"mended,omitempty"` // of these
	Damaged int           `json:"damaged,omitempty"`
	Lost    int           `json:"lost,omitempty"`    // definitions
	Secrets int           `json:"secrets,omitempty"` // keys that are missing
	First   []string      `json:"first,omitempty"`   // some of what is not mended: collection/job: problem
	Failed  string        `json:"failed,omitempty"`  // why it was cut short
}

// Left is how many problems are not mended.
func (a *Audit) Left() int { return a.Found - a.Mended }

// Say adds a problem to the first ones, as long as there is room.
func (a *Audit) Say(problem string) {
	if len(a.First) < lostMost {
		a.First = append(a.First, problem)
	}
}

// Bound leaves out of a report what is too much: the shortest attempts, and the least troubled targets.
func (r *Report) Bound() {
	slices.SortFunc(r.Running, byLength)
	r.Running = r.Running[:min(len(r.Running), RunningMost)]
	slices.SortFunc(r.Targets, byTrouble)
	r.Targets = r.Targets[:min(len(r.Targets), TargetsMost)]
}

// byLength orders attempts, the longest first.
func byLength(a, b Running) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Job, b.Job)) }

// Encode writes the report.
func (r *Report) Encode() ([]byte, error) { return json.Marshal(r) }

// Same reports whether two reports say the same, but for when.
func (r *Report) Same(other *Report) bool {
	a, b := *r, *other
	a.At, b.At = time.Time{}, time.Time{}
	one, err := a.Encode()
	two, wrong := b.Encode()
	return err == nil && wrong == nil && bytes.Equal(one, two)
}

// MergeTargets joins what the limits of a process know of its targets and what its attempts came to.
func MergeTargets(limited, tried []Target) []Target {
	by := map[string]Target{}
	for _, t := range tried {
		by[t.Name] = t
	}
	var all []Target
	for _, t := range limited {
		if known, ok := by[t.Name]; ok {
			delete(by, t.Name)
			known.Collection = t.Collection
			t = merged(known, t)
		}
		if t.troubled() {
			all = append(all, t)
		}
	}
	for _, t := range by {
		all = append(all, t)
	}
	slices.SortFunc(all, byTrouble)
	return all
}
