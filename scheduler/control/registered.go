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

// heardJobs are the entries of the registry up to a revision. They are kept, because a put that links jobs needs all of
// them. The zero value is empty.
type heardJobs struct {
	all      map[scheduler.Key]scheduler.Heard
	revision uint64
}

// eachHeard passes the entries of the registry, which may be stale. It reads those that have changed since the last call.
func (h *shared) eachHeard(ctx context.Context, pass func(scheduler.Key, scheduler.Heard)) error {
	release, err := h.hearing.Acquire(ctx, "")
	if err != nil {
		return err
	}
	defer release()
	last, err := h.Store.Listeners().Since(ctx, h.heard.revision, h.heard.changed)
	if err == nil && last < h.heard.revision { // restored
		h.heard = heardJobs{}
		_, err = h.Store.Listeners().Since(ctx, 0, h.heard.changed)
	}
	if err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	for k, heard := range h.heard.all {
		pass(k, heard)
	}
	return nil
}

func (j *heardJobs) changed(name string, revision uint64, data []byte) {
	j.revision = max(j.revision, revision)
	var k scheduler.Key
	var heard scheduler.Heard
	switch {
	case k.UnmarshalText([]byte(name)) != nil:
		return
	case data == nil:
		delete(j.all, k)
		return
	case j.all == nil:
		j.all = map[scheduler.Key]scheduler.Heard{}
	}
	_ = json.Unmarshal(data, &heard) // a damaged entry has no links
	j.all[k] = heard
}

// auditRegistry compares jobs with links to events and jobs with the registry, which it reads in batches. The index knows these
// jobs; until it is built, the check does not look at them. A job without an entry is a problem, an entry without a job is not: fix
// removes it, as jobs that expire leave it behind.
func (a Auditor) auditRegistry(ctx context.Context, rep *AuditReport, fix bool) error {
	bucket := a.shared.Store.Listeners()
	var entries heardJobs
	if _, err := bucket.Since(ctx, 0, entries.changed); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	for chunk := range slices.Chunk(a.shared.index.Triggered(), batchKeys) {
		jobs, err := a.shared.stored(ctx, chunk)
		if err != nil {
			return err
		}
		for _, st := range jobs {
			hears := scheduler.StoredLinks(st.Data).Hears(st.Key)
			heard := entries.all[st.Key]
			delete(entries.all, st.Key) // it is not stale
			if heard.Includes(hears) {
				continue
			}
			missing, err := registry.Ensure(ctx, bucket, st.Key, hears, fix)
			if err != nil {
				return fmt.Errorf("job %s: %w", st.Key, err)
			}
			if missing {
				rep.add(Finding{Job: st.Key, Problem: "its links to events and jobs are not registered: neither start runs", Fixed: fix})
			}
		}
	}
	if !fix {
		return nil
	}
	keys := slices.Collect(maps.Keys(entries.all))
	if err := a.shared.eachOf(ctx, keys, func(st scheduler.Stored) { delete(entries.all, st.Key) }); err != nil {
		return err
	}
	for k := range entries.all {
		name, _ := k.MarshalText() // it was read from one
		e, err := bucket.Load(ctx, string(name))
		if err == nil && a.shared.Store.Now().Sub(e.Written) > staleEntry {
			_ = bucket.Remove(ctx, e.Key.Job, e.Revision) // the next check repeats it
		}
	}
	return nil
}
