package control_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
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

func (c *counting) Waiting(ctx context.Context, slot scheduler.BatonKey) (scheduler.Stored, error) {
	c.add("waiting")
	return c.Store.Waiting(ctx, slot)
}

func (c *counting) Running(ctx context.Context, slot scheduler.BatonKey) (scheduler.Stored, error) {
	c.add("running")
	return c.Store.Running(ctx, slot)
}

func (c *counting) FindBatons(ctx context.Context, keys []scheduler.Key, found func(scheduler.Stored, bool)) error {
	c.add("batons")
	return c.Store.FindBatons(ctx, keys, found)
}

func (c *counting) ScheduleAt(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, waiting uint64) error {
	c.add("arm")
	return c.Store.ScheduleAt(ctx, slot, body, at, waiting)
}

func (c *counting) Cancel(ctx context.Context, slot scheduler.BatonKey, waiting uint64) error {
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
	w := newHarness(t)
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
		now := must.Get(s.Get(t.Context(), k))(t)
		now.Result = v.Result // which only an edit has
		if got, want := string(v1.JSON(v)), string(v1.JSON(now)); got != want {
			t.Errorf("%s: the answer is\n%s\nand the job then\n%s", test.name, got, want)
		}
	}
}

// rearming is a store that replaces the waiting baton by its copy before it saves the job, as the merge of a detached run
// does.
type rearming struct {
	*store.Store

	times int
}

func (r *rearming) rearm(ctx context.Context, k scheduler.Key) error {
	slot := scheduler.BatonKey{Key: k}
	st, err := r.Waiting(ctx, slot)
	if err != nil || r.times == 0 {
		return err
	}
	r.times--
	return r.ScheduleAt(ctx, slot, st.Data, time.Now().Add(time.Hour), st.Revision)
}

func (r *rearming) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (uint64, error) {
	if r.times > 0 {
		if err := r.rearm(ctx, k); err != nil {
			return 0, err
		}
	}
	return r.Store.SaveJob(ctx, k, data, replaces, final)
}

func (r *rearming) Cancel(ctx context.Context, slot scheduler.BatonKey, waiting uint64) error {
	if err := r.rearm(ctx, slot.Key); err != nil {
		return err
	}
	return r.Store.Cancel(ctx, slot, waiting)
}

// TestEditRemovesMovedBaton disables and ends a job whose baton is replaced after the edit has found it.
func TestEditRemovesMovedBaton(t *testing.T) {
	w := newHarness(t)
	moving := &rearming{Store: w.store}
	s := w.over(moving)
	for patch, want := range map[string]scheduler.State{
		`{"state": "disabled"}`: scheduler.Disabled,
		`{"startTime": "2019-01-01T00:00:00Z", "recurrence": {"endTime": "2020-01-01T00:00:00Z"}}`: scheduler.Completed,
	} {
		k := scheduler.Key{Collection: "default", Job: "job-" + string(want)}
		w.put(k, `{"overlap": "allow", "recurrence": {"frequency": "hour"}, `+callLater+`}`)
		moving.times = 3
		if v, err := s.Patch(t.Context(), control.Edit{Key: k, Body: []byte(patch)}); err != nil || v.Job.State != want {
			t.Fatalf("%s: %+v %v", patch, v, err)
		}
		if b, err := w.store.Waiting(t.Context(), scheduler.BatonKey{Key: k}); !errors.Is(err, scheduler.ErrNotFound) || moving.times > 0 {
			t.Errorf("%s: a baton waits: %s %v (%d)", patch, b.Data, err, moving.times)
		}
	}
}

// TestReadsKeepDamagedBaton checks that reads and dry runs leave an unreadable waiting baton, and that an edit replaces it.
func TestReadsKeepDamagedBaton(t *testing.T) {
	h := newHarness(t)
	s, st := h.service, h.store
	k := scheduler.Key{Collection: "default", Job: "job"}
	slot, hourly := scheduler.BatonKey{Key: k}, `{"recurrence": {"frequency": "hour"}, `+callLater+`}`
	h.put(k, hourly)
	must.Do(t, st.Clear(t.Context(), k, nil))
	must.Do(t, st.ScheduleAt(t.Context(), slot, []byte("{"), time.Now().Add(time.Hour), 0))
	daily := strings.Replace(hourly, "hour", "day", 1)
	for name, read := range map[string]func() error{
		"get": func() error { _, err := s.Get(t.Context(), k); return err },
		"why": func() error { _, err := s.Why(t.Context(), k, ""); return err },
		"dry run": func() error {
			_, _, err := s.Put(t.Context(), control.Edit{Key: k, Body: []byte(daily), DryRun: true})
			return err
		},
		"cancel": func() error { _, err := s.Cancel(t.Context(), k, []byte(`{"dryRun": true}`)); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if w, err := st.Waiting(t.Context(), slot); err != nil || string(w.Data) != "{" {
			t.Fatalf("%s: the baton is %s, %v", name, w.Data, err)
		}
	}
	h.put(k, daily)
	w := must.Get(st.Waiting(t.Context(), slot))(t)
	if b, err := scheduler.DecodeBaton(w.Data); err != nil || b.Schedule != 2 {
		t.Errorf("the baton after the edit: %s, %v", w.Data, err)
	}
}
