package worker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// TestLostAcknowledgementIsNoBaton has a worker die before its acknowledgement of a baton is sent that it has passed on. What
// follows runs to the job's end, or to that of the schedule which an edit gives it, before the message comes again. Nothing but
// the history tells of the end then: nobody writes it. No run is repeated.
func TestLostAcknowledgementIsNoBaton(t *testing.T) {
	quick := `{` + action + `, "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "count": 4}}`
	once := `{` + action + `}`
	tried := `{"action": {"type": "Http", "request": {"uri": "http://down.example/", "method": "POST"},
		"retryPolicy": {"retryInterval": "PT1S", "retryCount": 2}}}`
	tests := []struct {
		name, job string
		lost      int32 // acknowledgements before the one that is lost
		edit      string
		want      string
	}{
		{"of the first run", quick, 0, "", "completed completed completed completed"},
		{"of the second run", quick, 1, "", "completed completed completed completed"},
		{"of the third run", quick, 2, "", "completed completed completed completed"},
		{"of a one-shot", once, 0, "", "completed"},
		{"of a one-shot that is edited", once, 0, `{` + action + `, "startTime": "2000-01-01T00:00:01Z"}`, "completed completed"},
		{"of a try", tried, 1, "", "failed failed failed faulted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := w.startMortal(&mortal{point: "ack", before: true, skip: test.lost}, func(c *worker.Config) { c.Store = endless{c.Store} })
				w.sink.answers(failingAt("down"))
				w.put("job", test.job)
				m.awaitDeath(t)
				w.startWorker(func(c *worker.Config) { c.Store, c.Logger = endless{w.store}, nil })
				if test.edit != "" {
					w.put("job", test.edit)
				}
				time.Sleep(time.Minute)
				w.wantHistory("job", test.want)
				if v := w.get("job"); !v.Job.State.Final() {
					t.Errorf("it is %s", v.Job.State)
				}
				calls := map[string]bool{}
				for _, c := range w.sink.seen() {
					if calls[c.key+"#"+c.try] {
						t.Errorf("try %s of %s was called again", c.try, c.key)
					}
					calls[c.key+"#"+c.try] = true
				}
			})
		})
	}
}

// deaf is a store whose first answer is lost when a baton is passed on, and when a run is detached. That shows late.
type deaf struct {
	scheduler.Store

	passed, fired sync.Once
}

func (d *deaf) Fire(ctx context.Context, slot scheduler.Slot, body []byte, waiting uint64) error {
	err := d.Store.Fire(ctx, slot, body, waiting)
	d.fired.Do(func() {
		time.Sleep(2 * time.Second)
		err = scheduler.ErrUnavailable
	})
	return err
}

func (d *deaf) PassOn(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, running uint64) error {
	err := d.Store.PassOn(ctx, slot, body, at, running)
	if slot.Detached == "" {
		d.passed.Do(func() {
			time.Sleep(15 * time.Second)
			err = scheduler.ErrUnavailable
		})
	}
	return err
}

// TestLostAnswerIsNoRefusal has a run detached and its job's baton passed on, and the answers lost. Before each is tried again, the
// run fails, waits for its retry, and is counted in on the baton that waits already. Nothing is run twice, and nothing taken back.
func TestLostAnswerIsNoRefusal(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.sink.answers(failingAt("down"))
		w.startWorker(func(c *worker.Config) { c.Store, c.Logger = &deaf{Store: w.store}, nil })
		w.put("job", `{"action": {"type": "Http", "request": {"uri": "http://down.example/", "method": "POST"},
			"retryPolicy": {"retryInterval": "PT10S", "retryCount": 1}}, "overlap": "allow", "recurrence": {"frequency": "Minute", "count": 9}}`)
		time.Sleep(90 * time.Second)
		w.wantHistory("job", "failed failed faulted failed failed faulted")
		if v := w.get("job"); v.Status.Executions != 4 {
			t.Errorf("%d executions are counted", v.Status.Executions)
		}
	})
}
