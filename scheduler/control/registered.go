package control

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/registry"
)

// staleEntry is the age from which an entry without a job is removed. The job of a younger one may be about to be
// stored.
const staleEntry = time.Minute

// registered is an entry of the registry.
type registered struct {
	name     string
	revision uint64
	written  time.Time
	heard    scheduler.Heard
}

// registeredJobs lists the registry.
func registeredJobs(ctx context.Context, bucket scheduler.Bucket) (map[scheduler.Key]registered, error) {
	all := map[scheduler.Key]registered{}
	err := bucket.Each(ctx, func(st scheduler.Stored) error {
		var k scheduler.Key
		if k.UnmarshalText([]byte(st.Key.Job)) == nil {
			e := registered{name: st.Key.Job, revision: st.Revision, written: st.Written}
			_ = json.Unmarshal(st.Data, &e.heard) // a damaged entry has no listeners
			all[k] = e
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	return all, nil
}

// auditRegistry compares jobs with a trigger with the registry, which it lists once. The index knows these jobs; until it
// is built, the check does not look at them. A job without an entry is a problem, an entry without a job is not: fix
// removes it, as jobs that expire leave it behind.
func (a Auditor) auditRegistry(ctx context.Context, rep *AuditReport, fix bool) error {
	bucket := a.shared.Store.Listeners()
	entries, err := registeredJobs(ctx, bucket)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(a.shared.index.Triggered(), batchKeys) {
		jobs, err := a.shared.stored(ctx, chunk)
		if err != nil {
			return err
		}
		for _, st := range jobs {
			hears := scheduler.StoredHears(st.Key, st.Data)
			heard := entries[st.Key].heard
			delete(entries, st.Key) // it is not stale
			if heard.Includes(hears) {
				continue
			}
			missing, err := registry.Ensure(ctx, bucket, st.Key, hears, fix)
			if err != nil {
				return fmt.Errorf("job %s: %w", st.Key, err)
			}
			if missing {
				rep.add(Finding{Job: st.Key, Problem: "its trigger is not registered: events do not start it", Fixed: fix})
			}
		}
	}
	if !fix {
		return nil
	}
	now := a.shared.Store.Now()
	maps.DeleteFunc(entries, func(_ scheduler.Key, e registered) bool { return now.Sub(e.written) <= staleEntry })
	return a.removeStale(ctx, bucket, entries)
}

// removeStale removes the entries of jobs that do not exist.
func (a Auditor) removeStale(ctx context.Context, bucket scheduler.Bucket, entries map[scheduler.Key]registered) error {
	for chunk := range slices.Chunk(slices.Collect(maps.Keys(entries)), batchKeys) {
		gone := map[scheduler.Key]bool{}
		for _, k := range chunk {
			gone[k] = true
		}
		if err := a.shared.Store.LoadJobs(ctx, chunk, func(st scheduler.Stored) { delete(gone, st.Key) }); err != nil {
			return err
		}
		for k := range gone {
			_ = bucket.Remove(ctx, entries[k].name, entries[k].revision) // the next check repeats it
		}
	}
	return nil
}
