package worker

import (
	"sync"

	"github.com/carillon-sched/carillon/scheduler"
)

// damages are the jobs, damaged or without a definition, that the log has been told of. Its zero value is ready for use.
type damages struct {
	mu   sync.Mutex
	told map[scheduler.Key]uint64 // revisions
}

// toldMost is how many are remembered; when there are more, all are told of again.
const toldMost = 1 << 14

// first reports whether a revision of a job is told of for the first time.
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
