package control

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/registry"
)

// staleEntry is the age from which an entry without a job is removed. The job of a younger one may be about to be
// stored.
const staleEntry = time.Minute

// auditRegistry compares jobs with a trigger with the registry. The index knows these jobs; until it is built, the
// check does not look at them. A job without an entry is a problem, an entry without a job is not: fix removes it, as
// jobs that expire leave it behind.
func (a Auditor) auditRegistry(ctx context.Context, rep *AuditReport, fix bool) error {
	bucket := a.shared.Store.Listeners()
	for chunk := range slices.Chunk(a.shared.index.Triggered(), batchKeys) {
		jobs, err := a.shared.stored(ctx, chunk)
		if err != nil {
			return err
		}
		for _, st := range jobs {
			missing, err := registry.Ensure(ctx, bucket, st.Key, scheduler.StoredHears(st.Key, st.Data), fix)
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
	stale := map[scheduler.Key]scheduler.Stored{}
	err := bucket.Each(ctx, func(st scheduler.Stored) error {
		var k scheduler.Key
		if k.UnmarshalText([]byte(st.Key.Job)) == nil && a.shared.Store.Now().Sub(st.Written) > staleEntry {
			stale[k] = st
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	return a.removeStale(ctx, bucket, stale)
}

// removeStale removes the entries of jobs that do not exist.
func (a Auditor) removeStale(
	ctx context.Context, bucket scheduler.Bucket, entries map[scheduler.Key]scheduler.Stored,
) error {
	keys := make([]scheduler.Key, 0, len(entries))
	for k := range entries {
		keys = append(keys, k)
	}
	for chunk := range slices.Chunk(keys, batchKeys) {
		gone := map[scheduler.Key]bool{}
		for _, k := range chunk {
			gone[k] = true
		}
		if err := a.shared.Store.LoadJobs(ctx, chunk, func(st scheduler.Stored) { delete(gone, st.Key) }); err != nil {
			return err
		}
		for k := range gone {
			_ = bucket.Remove(ctx, entries[k].Key.Job, entries[k].Revision) // the next check repeats it
		}
	}
	return nil
}
