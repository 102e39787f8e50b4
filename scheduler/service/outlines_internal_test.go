package service

import (
	"context"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/scheduler/trail"
)

// TestOutlinesGrowOld shows that outlines are followed and kept for a while only, also when a forecast had them as their time
// came: what was deleted long ago is told of by nothing.
func TestOutlinesGrowOld(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h := &shared{Config: Config{Trail: quietTrail{}}}
		o := &outlines{made: time.Now(), asOf: 1}
		follows := func() bool {
			_, ok, err := h.written(t.Context(), o, 1)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		time.Sleep(outlinesAge - time.Nanosecond)
		h.keep(o)
		if !follows() || h.outlines.Load() != o {
			t.Errorf("a moment before: followed %t, kept %t", follows(), h.outlines.Load() == o)
		}
		h.outlines.Store(nil) // a forecast has them
		time.Sleep(time.Nanosecond)
		h.keep(o)
		if follows() || h.outlines.Load() != nil {
			t.Errorf("then: followed %t, kept %t", follows(), h.outlines.Load() == o)
		}
	})
}

// TestOutlinesAreBounded shows that outlines of jobs that are written again and again are not kept on: each leaves something
// behind.
func TestOutlinesAreBounded(t *testing.T) {
	h, o := &shared{}, &outlines{made: time.Now(), outlined: outlinedMost}
	h.keep(o)
	if h.outlines.Load() != o {
		t.Error("the most are not kept")
	}
	o.outlined++
	h.keep(o)
	if h.outlines.Load() != nil {
		t.Error("more than the most are kept")
	}
}

// quietTrail tells of no writes.
type quietTrail struct{ trail.Store }

func (quietTrail) WrittenJobs(context.Context, uint64, func(trail.Written) bool) error { return nil }
