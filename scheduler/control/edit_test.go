package control_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store"
)

// counting is a store that lists the requests for jobs, batons and records that wait for the server.
type counting struct {
	*store.Store

	requests []string
}

func (c *counting) add(request string) { c.requests = append(c.requests, request) }

func (c *counting) LoadJob(ctx context.Context, k scheduler.Key) (scheduler.Stored, error) {
	c.add("load")
	return c.Store.LoadJob(ctx, k)
}

func (c *counting) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	c.add("save")
	return c.Store.SaveJob(ctx, k, data, replaces, final)
}

func (c *counting) Waiting(ctx context.Context, slot scheduler.Slot) (scheduler.Stored, error) {
	c.add("waiting")
	return c.Store.Waiting(ctx, slot)
}

func (c *counting) Running(ctx context.Context, slot scheduler.Slot) (scheduler.Stored, error) {
	c.add("running")
	return c.Store.Running(ctx, slot)
}

func (c *counting) FindBatons(ctx context.Context, keys []scheduler.Key, found func(scheduler.Stored, bool)) error {
	c.add("batons")
	return c.Store.FindBatons(ctx, keys, found)
}

func (c *counting) Arm(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, waiting uint64) error {
	c.add("arm")
	return c.Store.Arm(ctx, slot, body, at, waiting)
}

func (c *counting) Cancel(ctx context.Context, slot scheduler.Slot, waiting uint64) error {
	c.add("cancel")
	return c.Store.Cancel(ctx, slot, waiting)
}

func (c *counting) LastRecords(ctx context.Context, keys []scheduler.Key, of []scheduler.Outcome, each func(*scheduler.Record)) error {
	c.add("records")
	return c.Store.LastRecords(ctx, keys, of, each)
}

func (c *counting) Recent(
	ctx context.Context, k scheduler.Key, before uint64, of []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	c.add("history")
	return c.Store.Recent(ctx, k, before, of, f)
}

// TestEditTakesFewRequests checks which requests an edit of a waiting job makes, one after the other.
func TestEditTakesFewRequests(t *testing.T) {
	w := newWorld(t)
	asked := &counting{Store: w.store}
	s := w.over(asked)
	k := scheduler.Key{Collection: "default", Job: "job"}
	put := func(body string, dry bool) func() (*v1.Job, error) {
		return func() (*v1.Job, error) {
			v, _, err := s.Put(t.Context(), control.Edit{Key: k, Body: []byte(body), DryRun: dry})
			return v, err
		}
	}
	hourly := `{"recurrence": {"frequency": "hour"}, ` + callLater + `}`
	daily := `{"recurrence": {"frequency": "day"}, ` + callLater + `}`
	for _, test := range []struct {
		name string
		edit func() (*v1.Job, error)
		want []string
	}{
		{"create", put(hourly, false), []string{"load", "save", "arm"}},
		{"put the same", put(hourly, false), []string{"save", "load", "batons"}}, // it tries to create another one first
		{"put again", put(hourly, false), []string{"load", "batons"}},
		{"dry run", put(daily, true), []string{"load", "waiting"}},
		{"put", put(daily, false), []string{"load", "waiting", "save", "arm"}},
		{"patch", func() (*v1.Job, error) {
			return s.Patch(t.Context(), control.Edit{Key: k, Body: []byte(`{"labels": {"a": "b"}}`)})
		}, []string{"load", "waiting", "save", "arm"}},
		{"pause", func() (*v1.Job, error) { return s.Pause(t.Context(), k, "2100-01-01T00:00:00Z") }, []string{"load", "waiting", "save", "arm"}},
		{"resume", func() (*v1.Job, error) { return s.Enable(t.Context(), k) }, []string{"load", "waiting", "save", "arm"}},
		{"enabled", func() (*v1.Job, error) { return s.Enable(t.Context(), k) }, []string{"load", "waiting"}},
		{"disable", func() (*v1.Job, error) { return s.Disable(t.Context(), k) }, []string{"load", "waiting", "save", "cancel"}},
		{"enable", func() (*v1.Job, error) { return s.Enable(t.Context(), k) }, []string{"load", "save", "batons", "load", "arm"}},
	} {
		asked.requests = nil
		v, err := test.edit()
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if !slices.Equal(asked.requests, test.want) {
			t.Errorf("%s: requests %v, want %v", test.name, asked.requests, test.want)
		}
		if test.name == "dry run" {
			continue
		}
		now, err := s.Get(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		now.Result = v.Result // which only an edit has
		if got, want := string(v1.JSON(v)), string(v1.JSON(now)); got != want {
			t.Errorf("%s: the answer is\n%s\nand the job then\n%s", test.name, got, want)
		}
	}
}
