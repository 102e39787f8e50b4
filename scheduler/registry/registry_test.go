package registry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/registry"
)

// contested is an empty bucket whose first writes fail because of conflicts.
type contested struct {
	scheduler.Bucket

	conflicts int
}

func (b *contested) Load(context.Context, string) (scheduler.Stored, error) {
	return scheduler.Stored{}, scheduler.ErrNotFound
}

func (b *contested) Save(context.Context, string, []byte, uint64) (uint64, error) {
	b.conflicts--
	if b.conflicts >= 0 {
		return 0, scheduler.ErrConflict
	}
	return 1, nil
}

// TestPrepareContested checks that an edit is refused if its entry cannot be written: the job would miss events.
func TestPrepareContested(t *testing.T) {
	hears := scheduler.Heard{Events: []scheduler.Selection{{Topic: scheduler.Topic{Collection: "default", Name: "orders"}}}}
	for conflicts, want := range map[int]error{0: nil, 9: nil, 10: scheduler.ErrConflict} {
		synctest.Test(t, func(t *testing.T) {
			k := scheduler.Key{Collection: "default", Job: "job"}
			_, err := registry.Prepare(t.Context(), &contested{conflicts: conflicts}, k, scheduler.Heard{}, hears)
			if !errors.Is(err, want) {
				t.Errorf("after %d conflicts: %v, want %v", conflicts, err, want)
			}
		})
	}
}
