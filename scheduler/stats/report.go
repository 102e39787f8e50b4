package stats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/source"
)

// Report describes the state of a process.
type Report struct {
	ID      string    `json:"id"`   // unique to the process; changes with each restart
	Name    string    `json:"name"` // display name: the host
	Version string    `json:"version"`
	Server  string    `json:"server,omitempty"` // the connected NATS server
	Since   time.Time `json:"since"`            // start time
	At      time.Time `json:"at"`               // report time
	Stopped bool      `json:"stopped,omitempty"`

	InFlight int `json:"inFlight"` // attempts
	Queued   int `json:"queued"`   // due runs that wait for a slot
	Held     int `json:"held"`     // early batons in memory

	Running []Running `json:"running,omitempty"` // longest-running attempts
	Targets []Target  `json:"targets,omitempty"` // most troubled
	Audit   *Audit    `json:"audit,omitempty"`   // its latest consistency check; nil: none

	Sources map[string]source.Status `json:"sources,omitempty"` // most recently active, by UID
}

// The limits of a report.
const (
	RunningMost = 20
	TargetsMost = 20
	SourcesMost = 200
	lostMost    = 5
)

// Running is a running attempt.
type Running struct {
	Job        string    `json:"job"` // collection/job
	Occurrence time.Time `json:"occurrence"`
	Attempt    int       `json:"attempt"` // from 1
	Since      time.Time `json:"since"`
	Target     string    `json:"target,omitempty"`
}

// Audit is the result of a consistency check.
type Audit struct {
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"took,omitempty"`
	Jobs    int           `json:"jobs,omitempty"`
	Found   int           `json:"found,omitempty"`  // problems
	Mended  int           `json:"mended,omitempty"` // repaired problems
	Damaged int           `json:"damaged,omitempty"`
	Lost    int           `json:"lost,omitempty"`    // lost definitions
	Secrets int           `json:"secrets,omitempty"` // missing keys
	First   []string      `json:"first,omitempty"`   // examples of unrepaired problems, as collection/job: problem
	Failed  string        `json:"failed,omitempty"`  // why the check was interrupted
}

// Left returns the number of unrepaired problems.
func (a *Audit) Left() int { return a.Found - a.Mended }

// Say adds a problem to First while there is room.
func (a *Audit) Say(problem string) {
	if len(a.First) < lostMost {
		a.First = append(a.First, problem)
	}
}

// Bound enforces the report's limits: it keeps the longest-running attempts, the most troubled targets and the most
// recently active sources.
func (r *Report) Bound() {
	slices.SortFunc(r.Running, byLength)
	r.Running = r.Running[:min(len(r.Running), RunningMost)]
	slices.SortFunc(r.Targets, byTrouble)
	r.Targets = r.Targets[:min(len(r.Targets), TargetsMost)]
	uids := slices.SortedFunc(maps.Keys(r.Sources), func(a, b string) int {
		x, y := r.Sources[a], r.Sources[b]
		return cmp.Or(y.LastEvent.Compare(x.LastEvent), y.ErrorTime.Compare(x.ErrorTime), cmp.Compare(a, b))
	})
	for _, uid := range uids[min(len(uids), SourcesMost):] {
		delete(r.Sources, uid)
	}
}

// byLength orders attempts, longest-running first.
func byLength(a, b Running) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Job, b.Job)) }

// Encode encodes the report.
func (r *Report) Encode() ([]byte, error) { return json.Marshal(r) }

// Same reports whether two reports are equal except for their time.
func (r *Report) Same(other *Report) bool {
	a, b := *r, *other
	a.At, b.At = time.Time{}, time.Time{}
	one, err := a.Encode()
	two, wrong := b.Encode()
	return err == nil && wrong == nil && bytes.Equal(one, two)
}

// MergeTargets joins the state of the limits with the results of attempts.
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
