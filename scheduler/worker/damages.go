package worker

import (
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// damages remembers the jobs, damaged or without a definition, that have been logged. The zero value is ready for use.
type damages struct {
	mu   sync.Mutex
	told map[scheduler.Key]uint64 // logged revisions
}

// toldMost limits the remembered jobs. When it is exceeded, all are logged again.
const toldMost = 1 << 14

// first reports whether a revision of a job has not been logged yet.
func (d *damages) first(k scheduler.Key, revision uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last, ok := d.told[k]; ok && last == revision {
		return false
	}
	if d.told == nil || len(d.told) >= toldMost {
		d.told = map[scheduler.Key]uint64{}
	}
	d.told[k] = revision
	return true
}
