package control_test

import (
	"bytes"
	"cmp"
	"context"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// repeated is a fleet whose jobs are each written while they are listed.
type repeated struct{ *fleet }

func (r repeated) EachStoredJob(ctx context.Context, each func(scheduler.Stored) error) error {
	return cmp.Or(r.fleet.EachStoredJob(ctx, each), r.fleet.EachStoredJob(ctx, each))
}

// TestForecastCountsOnce counts a job once that the listing gives twice.
func TestForecastCountsOnce(t *testing.T) {
	s := control.New(control.Config{Store: repeated{newFleet(t, 100)}, Actions: readers})
	r := must.Get(s.Forecast(t.Context(), control.ForecastQuery{}))(t)
	if r.Jobs != 100 {
		t.Errorf("%d jobs, want 100", r.Jobs)
	}
}

// TestForecastLeavesOutDamaged reports a job as damaged that was changed outside Carillon.
func TestForecastLeavesOutDamaged(t *testing.T) {
	f := newFleet(t, 100)
	wrong := f.jobs[f.keys[7]]
	wrong.Data = bytes.Replace(wrong.Data, []byte("2099"), []byte("2098"), 1)
	f.jobs[f.keys[7]] = wrong
	r := must.Get(control.New(control.Config{Store: f, Actions: readers}).Forecast(t.Context(), control.ForecastQuery{}))(t)
	if r.LeftOut.Damaged != 1 || r.Jobs != 99 {
		t.Errorf("%d jobs, and %+v", r.Jobs, r.LeftOut)
	}
}
