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
	scheduler.Stored

	heard scheduler.Heard
}

func registeredJobs(ctx context.Context, bucket scheduler.Bucket) (map[scheduler.Key]registered, error) {
	all := map[scheduler.Key]registered{}
	err := bucket.Each(ctx, func(st scheduler.Stored) error {
		var k scheduler.Key
		if k.UnmarshalText([]byte(st.Key.Job)) == nil {
			e := registered{Stored: st}
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

// auditRegistry compares jobs with links to events and jobs with the registry, which it lists once. The index knows these jobs; until it
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
			hears := scheduler.StoredLinks(st.Data).Hears(st.Key)
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
				rep.add(Finding{Job: st.Key, Problem: "its links to events and jobs are not registered: neither start runs", Fixed: fix})
			}
		}
	}
	if !fix {
		return nil
	}
	now := a.shared.Store.Now()
	maps.DeleteFunc(entries, func(_ scheduler.Key, e registered) bool { return now.Sub(e.Written) <= staleEntry })
	err = a.shared.eachOf(ctx, slices.Collect(maps.Keys(entries)), func(st scheduler.Stored) { delete(entries, st.Key) })
	if err != nil {
		return err
	}
	for _, e := range entries {
		_ = bucket.Remove(ctx, e.Key.Job, e.Revision) // the next check repeats it
	}
	return nil
}
