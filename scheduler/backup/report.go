package backup

import (
	"fmt"
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

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
