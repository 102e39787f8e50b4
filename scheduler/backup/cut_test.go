package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/store"
)

// dying is the store of a restore that is killed: after a number of writes, no further write takes effect, or only one
// that is not acknowledged.
type dying struct {
	*store.Store

	effect bool

	mu   sync.Mutex
	left int
}

var errKilled = errors.New("killed")

func (d *dying) do(write func() error) error {
	d.mu.Lock()
	d.left--
	left := d.left
	d.mu.Unlock()
	if left > 0 {
		return write()
	}
	if left == 0 && d.effect {
		_ = write() // without acknowledgement
	}
	return errKilled
}

func (d *dying) ScheduleAt(ctx context.Context, slot scheduler.BatonKey, body []byte, at time.Time, waiting uint64) error {
	return d.do(func() error { return d.Store.ScheduleAt(ctx, slot, body, at, waiting) })
}

func (d *dying) Append(ctx context.Context, r *scheduler.Record) error {
	return d.do(func() error { return d.Store.Append(ctx, r) })
}

func (d *dying) Clear(ctx context.Context, k scheduler.Key, of func(*scheduler.Baton) bool) error {
	return d.do(func() error { return d.Store.Clear(ctx, k, of) })
}

func (d *dying) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (rev uint64, err error) {
	err = d.do(func() error {
		rev, err = d.Store.SaveJob(ctx, k, data, replaces, final)
		return err
	})
	return rev, err
}

func (d *dying) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) []error {
	var errs []error
	if err := d.do(func() error { errs = d.Store.EndJobs(ctx, jobs); return nil }); err != nil {
		return slices.Repeat([]error{err}, len(jobs))
	}
	return errs
}

// TestRestoreCutShort kills a restore at every write while a scheduler runs on the target, runs a consistency check,
// and repeats the restore until it succeeds. No job is missing, runs twice or has two batons. Half of the restores
// replace existing jobs.
func TestRestoreCutShort(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from"})
		soon := `{"startTime": "2000-01-01T00:01:00Z", ` + to("", fine) + `}`
		docs := []string{
			soon, `{` + to("", fine) + `}`, `{` + to("", fine) + `, "recurrence": {"frequency": "minute", "count": 5}}`,
			`{` + to("slow", fine) + `, "timeout": "PT20M", "overlap": "allow", "recurrence": {"frequency": "minute", "count": 3}}`,
		}
		for i := range 8 {
			from.put(fmt.Sprintf("job%d", i), docs[i%len(docs)])
		}
		from.start()
		time.Sleep(30 * time.Second)
		from.halt()
		file := from.take()
		time.Sleep(40 * time.Second) // some are overdue when restored
		step := 1
		if bubble.RaceDetector {
			step = 3
		}
		for cut := 1; cut <= 24; cut += step {
			back := newSystem(t, s, key1, store.Config{Prefix: fmt.Sprintf("back%d", cut), Lanes: 2})
			if cut%2 == 0 {
				back.put("job0", `{`+to("", fine)+`, "recurrence": {"frequency": "hour"}}`)
			}
			back.start()
			again(t, back, file, cut)
			time.Sleep(15 * time.Minute)
			if report, err := back.service.Audit(t.Context(), false); err != nil || len(report.Findings) > 0 || report.Jobs != 8 {
				t.Errorf("cut %d: the audit finds %+v, %v", cut, report, err)
			}
			for i := range 8 {
				name := fmt.Sprintf("job%d", i)
				keys := map[string]int{}
				for _, c := range back.sink.seen(name) {
					keys[c.key]++
					if keys[c.key] > 1 {
						t.Errorf("cut %d: %s was called twice", cut, c.key)
					}
				}
				if v, err := back.service.Get(t.Context(), key(name)); err != nil || v.Job.State != scheduler.Completed {
					t.Errorf("cut %d: %s is %s, %v", cut, name, v.Job.State, err)
				}
			}
			back.destroy()
		}
	})
}

// again repeats a restore until it succeeds; each attempt is killed one write later.
func again(t *testing.T, back *system, file []byte, cut int) {
	t.Helper()
	for try := range 40 {
		r := must.Get(backup.NewReader(bytes.NewReader(file)))(t)
		st := &dying{Store: back.store, left: cut + try, effect: (cut+try)%3 == 0}
		_, err := backup.Restore(t.Context(), backup.RestoreConfig{Store: st, Existing: backup.Replace, Tokens: true}, r)
		r.Close()
		if err == nil {
			return
		}
		if !errors.Is(err, errKilled) {
			t.Fatalf("cut %d, try %d: %v", cut, try, err)
		}
		time.Sleep(time.Duration(cut) * 300 * time.Millisecond)
		back.audit()
	}
	t.Errorf("cut %d: it is never through", cut)
}
