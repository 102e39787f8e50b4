package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestMemoryOfJob bounds the memory of a job, in whatever order jobs come.
func TestMemoryOfJob(t *testing.T) {
	const jobs, most = 100_000, 160 // bytes each, with names of 11
	heap := func() int {
		var m runtime.MemStats
		runtime.GC() //nolint:revive // what is live is measured
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	for name, order := range map[string][]int{"in order": nil, "in random order": rand.New(rand.NewPCG(3, 4)).Perm(jobs)} {
		before, x := heap(), New(Config{})
		for i := range jobs {
			if order != nil {
				i = order[i]
			}
			x.put(scheduler.Key{Collection: "default", Job: fmt.Sprintf("job-%07d", i)}, 1, &scheduler.Summary{
				State: scheduler.Enabled, Action: "http", Address: fmt.Sprintf("host-%d", i%100), Target: fmt.Sprintf("host-%d:80", i%100),
				Labels: []scheduler.Label{{Name: "team", Value: fmt.Sprintf("t%d", i%100)}, {Name: "env", Value: "prod"}},
			})
		}
		used := (heap() - before) / jobs
		t.Logf("%s: %d bytes each", name, used)
		if used > most || x.jobs.count != jobs {
			t.Errorf("%s: %d bytes each of %d jobs, more than %d", name, used, x.jobs.count, most)
		}
	}
}
