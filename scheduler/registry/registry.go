// Package registry keeps the entries of [scheduler.Store].Listeners: what each job listens to, and which
// jobs it starts.
//
// The definition of a job decides whether an event starts it; its entry only makes the matchers read the definition.
// So a stale entry is harmless, and a missing one loses events:
//
//	Prepare   the entry has the old and the new listeners     before the definition is stored
//	Complete  the entry has the new listeners, or is removed  after it
//
// An entry is replaced or removed only at the revision that Prepare has read or written, before the definition was
// stored. So an edit never removes listeners that a later edit has prepared. A crash, or a failed edit, between the
// two leaves listeners in the entry that the definition does not have.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
)

// Change is a change of the entry of one job. The zero Change changes nothing.
type Change struct {
	bucket   scheduler.Bucket
	name     string
	revision uint64 // of the entry; 0: none
	entry    scheduler.Heard
	hears    scheduler.Heard
}

// The limit of the tries of a write with conflicts, and the pause after the first one. The pause doubles each time.
const (
	tries      = 10
	firstPause = 10 * time.Millisecond
)

// Prepare adds the listeners of a job's next definition (hears) to the job's entry, which has those of the stored
// definition (had). It costs a job without links nothing.
func Prepare(
	ctx context.Context, bucket scheduler.Bucket, k scheduler.Key, had, hears scheduler.Heard,
) (Change, error) {
	if had.Equal(hears) {
		return Change{}, nil
	}
	c := Change{bucket: bucket, hears: hears}
	name, err := k.MarshalText()
	c.name = string(name)
	if err != nil {
		return c, err
	}
	for try, pause := 1, firstPause; ; try, pause = try+1, 2*pause {
		if err := c.load(ctx); err != nil || hears.IsEmpty() {
			return c, err
		}
		c.entry = c.entry.Union(had).Union(hears)
		c.revision, err = c.save(ctx, c.entry)
		switch {
		case !errors.Is(err, scheduler.ErrConflict):
			return c, err
		case try == tries, !flow.Pause(ctx, pause):
			return c, fmt.Errorf("job %s: its links cannot be registered: %w: other edits kept changing the entry; try again", k, err)
		}
	}
}

func (c *Change) load(ctx context.Context) error {
	st, err := c.bucket.Load(ctx, c.name)
	if errors.Is(err, scheduler.ErrNotFound) {
		st, err = scheduler.Stored{}, nil
	}
	c.revision, c.entry = st.Revision, scheduler.Heard{}
	_ = json.Unmarshal(st.Data, &c.entry) //nolint:musttag,nolintlint // its elements are encoded as text; a damaged entry is replaced
	return err
}

// save writes the entry over the revision that was read.
func (c *Change) save(ctx context.Context, h scheduler.Heard) (uint64, error) {
	data, err := json.Marshal(h) //nolint:musttag,nolintlint // as above
	if err != nil {
		return 0, err
	}
	return c.bucket.Save(ctx, c.name, data, c.revision)
}

// Complete removes the listeners that the definition, which is now stored, lacks. After an error, a stale entry remains.
func (c *Change) Complete(ctx context.Context) error {
	var err error
	switch {
	case c.bucket == nil, c.revision == 0, c.entry.Equal(c.hears) && !c.hears.IsEmpty():
		return nil
	case c.hears.IsEmpty():
		err = c.bucket.Remove(ctx, c.name, c.revision)
	default:
		_, err = c.save(ctx, c.hears)
	}
	return scheduler.Ignore(err, scheduler.ErrConflict) // a later edit has prepared the entry
}

// Ensure reports whether the entry of a job lacks what its stored definition hears, and adds that with fix.
func Ensure(
	ctx context.Context, bucket scheduler.Bucket, k scheduler.Key, hears scheduler.Heard, fix bool,
) (missing bool, err error) {
	name, err := k.MarshalText()
	if err != nil {
		return false, err
	}
	c := Change{bucket: bucket, name: string(name)}
	if err := c.load(ctx); err != nil || c.entry.Includes(hears) {
		return false, err
	}
	if fix {
		_, err = c.save(ctx, c.entry.Union(hears))
	}
	if errors.Is(err, scheduler.ErrConflict) {
		return false, nil // an edit prepares the entry
	}
	return true, err
}
