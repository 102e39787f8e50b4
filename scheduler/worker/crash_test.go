package worker_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/worker"
)

// mortal is a store as a process sees it that dies at one point: from then on
// nothing it does reaches the server, and nothing comes back. Its connection is
// closed, too, so that its leases are not renewed.
type mortal struct {
	scheduler.Store

	nc     *nats.Conn
	dead   atomic.Bool
	last   sync.WaitGroup // the operation at which it dies, while it takes effect
	point  string         // operation at which the process dies
	before bool           // dies before it takes effect, otherwise right after
	skip   int32          // operations of that name to let pass
}

// startMortal starts a worker with a connection and a store of its own, which die where m says.
func (w *world) startMortal(m *mortal, change ...func(*worker.Config)) *mortal {
	w.t.Helper()
	m.nc, m.Store = w.open()
	w.startWorker(append([]func(*worker.Config){func(c *worker.Config) { c.Store, c.Logger = m, nil }}, change...)...)
	return m
}

// die reports whether the operation takes effect, and whether its caller
// learns of it.
func (m *mortal) die(op string) (effect, answer bool) {
	if m.dead.Load() {
		return false, false
	}
	if op != m.point || atomic.AddInt32(&m.skip, -1) >= 0 {
		return true, true
	}
	if !m.before {
		m.last.Add(1)
	}
	m.dead.Store(true)
	return !m.before, false
}

// awaitDeath waits until the process has died.
func (m *mortal) awaitDeath(t *testing.T) {
	t.Helper()
	for !m.dead.Load() {
		time.Sleep(10 * time.Millisecond)
		if time.Since(epoch) > time.Hour {
			t.Fatal("the worker never came to the point where it dies")
		}
	}
}

// bury ends what a process does on its own.
func (m *mortal) bury() {
	if m.dead.Load() {
		m.last.Wait()
		m.nc.Close()
	}
}

func (m *mortal) do(op string, f func() error) error {
	effect, answer := m.die(op)
	var err error
	if effect {
		err = f()
		if !answer {
			m.last.Done()
		}
	}
	m.bury()
	if !answer {
		return fmt.Errorf("%w: this process is dead", scheduler.ErrUnavailable)
	}
	return err
}

// WatchJobs waits instead of failing once a second, for as long as a test lasts, once the process is dead.
func (m *mortal) WatchJobs(ctx context.Context, ready func(), changed func(scheduler.Key, uint64)) error {
	err := m.Store.WatchJobs(ctx, ready, changed)
	if m.dead.Load() {
		<-ctx.Done()
	}
	return err
}

func (m *mortal) Append(ctx context.Context, r *scheduler.Record) error {
	return m.do("record "+string(r.Outcome), func() error { return m.Store.Append(ctx, r) })
}

func (m *mortal) PassOn(ctx context.Context, slot scheduler.Slot, body []byte, at time.Time, running uint64) error {
	return m.do("pass on", func() error { return m.Store.PassOn(ctx, slot, body, at, running) })
}

func (m *mortal) SaveJob(ctx context.Context, k scheduler.Key, data []byte, replaces uint64, final bool) (rev uint64, err error) {
	err = m.do("end", func() error {
		rev, err = m.Store.SaveJob(ctx, k, data, replaces, final)
		return err
	})
	return rev, err
}

func (m *mortal) EndJobs(ctx context.Context, jobs []scheduler.JobEnd) (errs []error) {
	if err := m.do("end", func() error { errs = m.Store.EndJobs(ctx, jobs); return nil }); err != nil {
		return slices.Repeat([]error{err}, len(jobs))
	}
	return errs
}

func (m *mortal) Deliver(ctx context.Context, lane int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	open := func() int {
		if m.dead.Load() {
			return 0
		}
		return room()
	}
	return m.Store.Deliver(ctx, lane, wake, open, func(d *scheduler.Delivery) {
		effect, answer := m.die("take")
		if effect && !answer {
			m.last.Done()
		}
		if !effect {
			go m.bury() // the connection calls
			return
		}
		d.Lease = mortalLease{d.Lease, m}
		take(d)
	})
}

type mortalLease struct {
	scheduler.Lease

	m *mortal
}

func (l mortalLease) Stands() bool { return !l.m.dead.Load() && l.Lease.Stands() } // the dead begin nothing
func (l mortalLease) Ack() error   { return l.m.do("ack", l.Lease.Ack) }
func (l mortalLease) Nak(after time.Duration) error {
	return l.m.do("nak", func() error { return l.Lease.Nak(after) })
}

// TestCrashPoints kills a worker at every step of an occurrence, and lets
// another one take over. No occurrence is lost, none is recorded twice, only
// those whose record was not stored run again, under the same key, and the
// job never has two batons.
func TestCrashPoints(t *testing.T) {
	recurring := `{` + action + `, "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "interval": 20, "count": 4}}`
	quick := `{` + action + `, "catchUp": {"policy": "all"}, "recurrence": {"frequency": "Second", "count": 4}}`
	once := `{` + action + `}`
	retried := `{` + failing + `}}`
	overlapping := `{` + action + `, "overlap": "allow", "recurrence": {"frequency": "Second", "interval": 20, "count": 4}}`
	four := "completed completed completed completed"
	failed := "failed failed failed faulted"
	tests := []struct {
		name, job, point string
		before           bool
		skip             int32
		want             string
		repeats          int // calls beyond one for each attempt
	}{
		{"taken", recurring, "take", true, 1, four, 0},
		{"ran, not recorded", recurring, "record completed", true, 1, four, 1},
		{"recorded", recurring, "record completed", false, 1, four, 0},
		{"recorded, not passed on", recurring, "pass on", true, 1, four, 0},
		{"passed on, not acknowledged", recurring, "pass on", false, 1, four, 0},
		{"acknowledgement lost", recurring, "ack", true, 1, four, 0},
		{"quick: ran, not recorded", quick, "record completed", true, 1, four, 1},
		{"quick: passed on", quick, "pass on", false, 1, four, 0},
		{"quick: acknowledgement lost", quick, "ack", true, 1, four, 0},
		{"one-shot: ran, not recorded", once, "record completed", true, 0, "completed", 1},
		{"one-shot: recorded", once, "record completed", false, 0, "completed", 0},
		{"one-shot: end not written", once, "end", true, 0, "completed", 0},
		{"one-shot: end written", once, "end", false, 0, "completed", 0},
		{"retry: failure not recorded", retried, "record failed", true, 1, failed, 1},
		{"retry: failure recorded", retried, "record failed", false, 1, failed, 0},
		{"retry: passed on", retried, "pass on", false, 1, failed, 0},
		{"retry: faulted not recorded", retried, "record faulted", true, 0, failed, 0},
		{"retry: end written", retried, "end", false, 0, failed, 0},
		{"overlapping: passed on", overlapping, "pass on", false, 1, four, 1},
		{"overlapping: not passed on", overlapping, "pass on", true, 1, four, 1},
		{"overlapping: detached run recorded", overlapping, "record completed", false, 1, four, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				m := w.startMortal(&mortal{point: test.point, before: test.before, skip: test.skip})
				w.sink.answers(func(*call) (int, string) {
					if test.want == failed {
						return http.StatusInternalServerError, ""
					}
					return http.StatusOK, ""
				})
				w.put("job", test.job)
				m.awaitDeath(t)
				w.startWorker()
				time.Sleep(3 * time.Minute)
				if test.point == "end" { // written behind: what was lost with the process is the audit's, and shows before
					if v := w.get("job"); !v.Job.State.Final() {
						t.Errorf("state %s before the audit", v.Job.State)
					}
					w.finish(map[bool]int{true: 1, false: 0}[test.before])
				}
				w.wantHistory("job", test.want)
				keys := map[string]bool{}
				for _, c := range w.sink.seen() {
					keys[c.key+"#"+c.try] = true
				}
				// A detached run may have happened, unrecorded, before its job's baton was passed on.
				if got := len(w.sink.seen()) - len(keys); got != test.repeats && (got != 0 || test.job != overlapping) {
					t.Errorf("%d repeated calls, want %d", got, test.repeats)
				}
				if v := w.get("job"); !v.Job.State.Final() || v.Status.Executions != len(keys) {
					t.Errorf("state %s, status %+v, want final with %d executions", v.Job.State, v.Status, len(keys))
				}
				if st, err := w.store.LoadJob(t.Context(), key("job")); err != nil || !scheduler.StoredState(st.Data).Final() {
					t.Errorf("stored as %s, %v", scheduler.StoredState(st.Data), err)
				}
				w.mustBeInOrder()
			})
		})
	}
}

// finish audits, finds so many jobs that have ended and nothing wrong, and writes their ends.
func (w *world) finish(ended int) {
	w.t.Helper()
	rep, err := w.service.Audit(w.t.Context(), true)
	if err != nil || rep.Ended != ended || len(rep.Findings) > 0 {
		w.t.Fatalf("audit: %v; %d ended, want %d; findings: %+v", err, rep.Ended, ended, rep.Findings)
	}
	w.must(nil, w.service.Finish(w.t.Context(), rep))
}

// epoch is where fake time begins in every bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestCrashAfterEditWhileHeld has a job edited while its baton is held. The
// attempt runs under the new definition, and so does what follows it, also when
// its worker dies before the next baton is stored.
func TestCrashAfterEditWhileHeld(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := w.startMortal(&mortal{point: "pass on", before: true})
		w.sink.answers(func(*call) (int, string) { return http.StatusInternalServerError, "" })
		start := time.Now().Add(20 * time.Second).UTC().Format(time.RFC3339Nano)
		put := func(policy string) {
			w.put("job", `{"startTime": "`+start+`", "action": {"type": "Http", "request": {"uri": "http://target.example/", "method": "GET"},
				"retryPolicy": `+policy+`}}`)
		}
		put(`{"retryType": "none"}`)
		time.Sleep(19600 * time.Millisecond)
		put(`{"retryInterval": "PT1S", "retryCount": 2}`)
		m.awaitDeath(t)
		w.startWorker()
		time.Sleep(time.Minute)
		w.wantHistory("job", "failed failed failed faulted")
	})
}

// TestDisabledAfterDetaching disables a job with overlap allow whose worker stopped between starting a run and passing the
// job's own baton on: the occurrence has one end, whichever of its two messages arrives first.
func TestDisabledAfterDetaching(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		m := w.startMortal(&mortal{point: "pass on", before: true})
		w.sink.answers(after(time.Minute, http.StatusOK))
		w.put("job", `{`+action+`, "overlap": "allow", "timeout": "PT5M", "recurrence": {"frequency": "Minute"}}`)
		m.awaitDeath(t)
		w.must(w.service.Disable(t.Context(), key("job")))
		w.startWorker()
		time.Sleep(5 * time.Minute)
		w.wantHistory("job", "skipped(disabled 1)")
		w.mustBeInOrder()
	})
}
