package backup

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// Existing says what becomes of what is there already under the name of an entry, and is something else.
type Existing string

// What may become of it.
const (
	Refuse  Existing = "refuse"  // nothing is restored at all
	Keep    Existing = "keep"    // it stays as it is
	Replace Existing = "replace" // the entry takes its place, a job with its batons
)

// standing is how what is there compares with an entry.
type standing uint8

const (
	missing  standing = iota
	restored          // the entry was restored before, or the backup is of this very store, and nothing has edited it since
	later             // it was, and has been edited since; only of a job
	other             // it is something else, or an earlier edit of it
)

// compareJob says how a stored job, nil when there is none, compares with one of a backup. stray says that there is none, but
// a baton of another job that had the name.
func compareJob(have, want []byte, stray bool) standing {
	if have == nil {
		if stray {
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

// compareValue says how a stored value, nil when there is none, compares with one of a backup. The default collection that
// every scheduler makes at its first start counts as none.
func compareValue(have []byte, e *Entry) standing {
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

// fate is what becomes of an entry.
type fate uint8

const (
	put      fate = iota // it is written
	there                // it is there already
	kept                 // what is there stays
	replaced             // it takes the place of what is there
	conflict             // nothing is restored
)

// decide says what becomes of an entry.
func decide(s standing, existing Existing) fate {
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

// Report says what became of the entries of a backup, or would.
type Report struct {
	Put       Counts `json:"restored"` // written
	There     Counts `json:"there"`    // left alone, as they had been restored before
	Kept      Counts `json:"kept"`     // left alone, as what is there was to stay
	Replaced  Counts `json:"replaced"` // written over what was there
	Conflicts Counts `json:"conflicts"`

	// Names are of the first conflicts, such as "job default/report".
	Names []string `json:"conflicting,omitempty"`

	mu sync.Mutex
}

// namesKept is how many conflicts are named.
const namesKept = 20

func (r *Report) add(f fate, e *Entry) {
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

// done counts what has been looked at.
func (r *Report) done() (jobs int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Put.Jobs + r.There.Jobs + r.Kept.Jobs + r.Replaced.Jobs + r.Conflicts.Jobs
}

// Conflict is the error of a report with conflicts; nil without. It matches [scheduler.ErrConflict].
func (r *Report) Conflict() error {
	c := r.Conflicts
	n := c.Collections + c.Secrets + c.Tokens + c.Jobs
	if n == 0 {
		return nil
	}
	if n == 1 {
		return fmt.Errorf("%w: there is something else under the name of %s", scheduler.ErrConflict, r.Names[0])
	}
	return fmt.Errorf("%w: there is something else under the names of %d entries, such as %s", scheduler.ErrConflict, n, r.Names[0])
}
