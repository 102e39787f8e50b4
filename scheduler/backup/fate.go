package backup

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Existing is the policy for an entry whose name is taken by a different object in the store.
type Existing string

// The policies.
const (
	Refuse  Existing = "refuse"  // restore nothing
	Keep    Existing = "keep"    // keep the stored object
	Replace Existing = "replace" // overwrite it, including a job's batons
)

// comparison is the result of comparing a stored object with an entry.
type comparison uint8

const (
	missing  comparison = iota
	restored            // restored before, or from this very store, and not edited since
	later               // restored before and edited since; jobs only
	other               // a different object, or an earlier edit of it
)

// compareJob compares a stored job, nil if missing, with the entry's. If orphaned, the job is missing,
// but a baton of another job with its name exists.
func compareJob(have, want []byte, orphaned bool) comparison {
	if have == nil {
		if orphaned {
			return other
		}
		return missing
	}
	if bytes.Equal(have, want) {
		return restored
	}
	uid, generation, ok := scheduler.StoredEditCount(have)
	wantUID, wantGeneration, wantOK := scheduler.StoredEditCount(want)
	switch {
	case !ok || !wantOK || uid != wantUID || generation < wantGeneration:
		return other
	case generation > wantGeneration:
		return later
	}
	return restored
}

// compareValue compares a stored value, nil if missing, with the entry. The default collection that a scheduler creates
// at its first start counts as missing.
func compareValue(have []byte, e *Entry) comparison {
	switch {
	case have == nil:
		return missing
	case bytes.Equal(have, e.Data):
		return restored
	case e.Kind == Collection && e.Name == scheduler.DefaultCollection:
		if fresh, err := scheduler.NewCollection(scheduler.DefaultCollection).Encode(); err == nil && bytes.Equal(have, fresh) {
			return missing
		}
	}
	return other
}

// restoreAction is the action for an entry.
type restoreAction uint8

const (
	put      restoreAction = iota // write it
	there                         // already restored
	kept                          // keep the stored object
	replaced                      // overwrite the stored object
	conflict                      // restore nothing
)

// decide returns the action for an entry.
func decide(s comparison, existing Existing) restoreAction {
	switch s {
	case missing:
		return put
	case restored:
		return there
	case later:
		if existing == Replace {
			return replaced
		}
		return there
	case other:
	}
	switch existing {
	case Keep:
		return kept
	case Replace:
		return replaced
	case Refuse:
	}
	return conflict
}

// Report counts the entries of a restore, or of its plan, by outcome.
type Report struct {
	Put       Counts `json:"restored"` // written
	There     Counts `json:"there"`    // unchanged, because already restored
	Kept      Counts `json:"kept"`     // unchanged, because of [Keep]
	Replaced  Counts `json:"replaced"` // overwritten
	Conflicts Counts `json:"conflicts"`

	// Names lists the first conflicts, such as "job default/report".
	Names []string `json:"conflicting,omitempty"`

	mu sync.Mutex
}

// namesKept is the maximum number of named conflicts.
const namesKept = 20

func (r *Report) add(f restoreAction, e *Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch f {
	case put:
		r.Put.add(e.Kind)
	case there:
		r.There.add(e.Kind)
	case kept:
		r.Kept.add(e.Kind)
	case replaced:
		r.Replaced.add(e.Kind)
	case conflict:
		r.Conflicts.add(e.Kind)
		if len(r.Names) < namesKept {
			r.Names = append(r.Names, string(e.Kind)+" "+e.Name)
		}
	}
}

// done returns the number of processed jobs.
func (r *Report) done() (jobs int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Put.Jobs + r.There.Jobs + r.Kept.Jobs + r.Replaced.Jobs + r.Conflicts.Jobs
}

// Conflict returns an error that matches [scheduler.ErrConflict] if the report has conflicts, or nil.
func (r *Report) Conflict() error {
	c := r.Conflicts
	n := c.Collections + c.Secrets + c.Tokens + c.Sources + c.Jobs
	if n == 0 {
		return nil
	}
	if n == 1 {
		return fmt.Errorf("%w: there is something else under the name of %s", scheduler.ErrConflict, r.Names[0])
	}
	return fmt.Errorf("%w: there is something else under the names of %d entries, such as %s", scheduler.ErrConflict, n, r.Names[0])
}
