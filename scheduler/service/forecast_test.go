package service_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// crowd is a fleet of which so many jobs are told that their outlines cannot be kept.
type crowd struct {
	*fleet

	asked int // for all jobs
}

func (c *crowd) EachStoredJob(ctx context.Context, each func(scheduler.Stored) error) error {
	c.asked++
	for range 2001 {
		if err := c.fleet.EachStoredJob(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

// TestForecastOfTooManyIsNotKept shows that a forecast of more jobs than outlines are kept of reads them all each time, tries
// once to keep them, and counts one that comes again once.
func TestForecastOfTooManyIsNotKept(t *testing.T) {
	c := &crowd{fleet: newFleet(t, 100)}
	s := service.New(service.Config{Store: c, Actions: readers})
	for asked := range 2 {
		r, err := s.Forecast(t.Context(), service.ForecastQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Jobs != 100 || c.asked != asked+2 {
			t.Errorf("of %d jobs, all asked for %d times", r.Jobs, c.asked)
		}
	}
}

// TestForecastLeavesOutDamaged shows that a job which was changed outside is told as damaged, also where no more than the
// outlines of jobs are read.
func TestForecastLeavesOutDamaged(t *testing.T) {
	f := newFleet(t, 100)
	wrong := f.jobs[f.keys[7]]
	wrong.Data = bytes.Replace(wrong.Data, []byte("2099"), []byte("2098"), 1)
	f.jobs[f.keys[7]] = wrong
	r, err := service.New(service.Config{Store: f, Actions: readers}).Forecast(t.Context(), service.ForecastQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if r.LeftOut.Damaged != 1 || r.Jobs != 99 {
		t.Errorf("%d jobs, and %+v", r.Jobs, r.LeftOut)
	}
}
