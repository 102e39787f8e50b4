package control_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// replicas are services, each with a connection and a store of its own, over one server.
type replicas struct {
	services []*control.Service
	stores   []*store.Store
}

func newReplicas(t *testing.T, n int) *replicas {
	t.Helper()
	s := storetest.Server(t)
	r := &replicas{}
	for range n {
		st := must.Get(store.Open(t.Context(), storetest.Connect(t, s), store.Config{Storage: jetstream.FileStorage}))(t)
		r.stores = append(r.stores, st)
		r.services = append(r.services, control.New(control.Config{Store: st, Actions: actions.New(web.New(web.Config{}))}))
	}
	return r
}

// collection puts a collection with a quota.
func (r *replicas) collection(t *testing.T, quota int) {
	t.Helper()
	body := fmt.Sprintf(`{"properties": {"quota": {"maxJobCount": %d}}}`, quota)
	if _, _, err := r.services[0].PutCollection(t.Context(), "c", []byte(body)); err != nil {
		t.Fatal(err)
	}
}

// jobs counts the jobs of the collection.
func (r *replicas) jobs(t *testing.T) (n int) {
	t.Helper()
	must.Do(t, r.stores[0].EachJob(t.Context(), "c", func(k scheduler.Key) error {
		_, err := r.stores[0].LoadJob(t.Context(), k)
		if err == nil {
			n++
		}
		if errors.Is(err, scheduler.ErrNotFound) {
			return nil
		}
		return err
	}))
	return n
}

const callLater = `"startTime": "2099-01-01T00:00:00Z", "action": {"type": "Http", "request": {"uri": "http://a.example", "method": "GET"}}`

func putNamed(ctx context.Context, s *control.Service, name string) error {
	_, _, err := s.Put(ctx, control.Edit{Key: scheduler.Key{Collection: "c", Job: name}, Body: []byte(`{` + callLater + `}`)})
	return err
}

// writers is how many write at once.
const writers = 200

// TestQuotaHoldsUnderConcurrentPuts: 200 writers make as many jobs as the quota allows, and no more. The others are told of
// the quota.
func TestQuotaHoldsUnderConcurrentPuts(t *testing.T) {
	const quota = 37
	r := newReplicas(t, 1)
	r.collection(t, quota)
	var made, refused atomic.Int64
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			err := putNamed(t.Context(), r.services[0], fmt.Sprintf("job%d", i))
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, scheduler.ErrConflict) && strings.Contains(err.Error(), "its quota (maxJobCount) is 37: delete some of its jobs"):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != quota || refused.Load() != writers-quota || r.jobs(t) != quota {
		t.Errorf("made %d, refused %d, there are %d", made.Load(), refused.Load(), r.jobs(t))
	}
}

// TestQuotaIsLoweredMeanwhile: those that wait for their turn go by the quota of when it comes.
func TestQuotaIsLoweredMeanwhile(t *testing.T) {
	const lowered = 10
	r := newReplicas(t, 1)
	r.collection(t, writers)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if err := putNamed(t.Context(), r.services[0], fmt.Sprintf("job%d", i)); err != nil && !errors.Is(err, scheduler.ErrConflict) {
				t.Error(err)
			}
		})
	}
	for r.jobs(t) < 2*lowered { // the others stand in line
		runtime.Gosched()
	}
	r.collection(t, lowered)
	then := r.jobs(t)
	all.Wait()
	if n := r.jobs(t); n > max(lowered, then+1) { // one may have had its turn
		t.Errorf("there were %d jobs when the quota was lowered, and there are %d", then, n)
	}
}

// TestOneIsFree: of many collections of a subscription that are made at once, over two services, or changed, one becomes free.
func TestOneIsFree(t *testing.T) {
	r := newReplicas(t, 2)
	for i := range 20 {
		if _, _, err := r.services[0].PutCollection(t.Context(), fmt.Sprintf("c%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	var free atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, _, err := r.services[i%2].PutCollection(t.Context(), fmt.Sprintf("c%d", i), []byte(`{"properties": {"sku": {"name": "Free"}}}`))
			switch {
			case err == nil:
				free.Add(1)
			case !errors.Is(err, scheduler.ErrConflict) || !strings.Contains(err.Error(), "has a free collection already"):
				t.Error(err)
			}
		})
	}
	all.Wait()
	stored := must.Get(r.services[0].Collections(t.Context()))(t)
	stored = slices.DeleteFunc(stored, func(c *scheduler.Collection) bool { return c.Plan != scheduler.Free })
	if free.Load() != 1 || len(stored) != 1 {
		t.Errorf("%d were told that they are free, %d are", free.Load(), len(stored))
	}
}

// TestQuotaHasRoomAgain: what is deleted makes room at once, for another replica, too; and so does another quota.
func TestQuotaHasRoomAgain(t *testing.T) {
	r := newReplicas(t, 2)
	r.collection(t, 2)
	for i, name := range []string{"a", "b"} {
		must.Do(t, putNamed(t.Context(), r.services[i], name))
	}
	for round := range 5 {
		s, other := r.services[round%2], r.services[1-round%2]
		if err := putNamed(t.Context(), s, "c"); !errors.Is(err, scheduler.ErrConflict) {
			t.Fatalf("round %d: one more than the quota: %v", round, err)
		}
		if err := putNamed(t.Context(), s, "a"); err != nil {
			t.Errorf("round %d: one that is there: %v", round, err)
		}
		must.Do(t, s.Delete(t.Context(), scheduler.Key{Collection: "c", Job: "a"}, 0))
		if err := putNamed(t.Context(), other, "a"); err != nil {
			t.Errorf("round %d: after one was deleted: %v", round, err)
		}
	}
	r.collection(t, 3)
	if err := putNamed(t.Context(), r.services[0], "c"); err != nil {
		t.Errorf("under the new quota: %v", err)
	}
	if n := r.jobs(t); n != 3 {
		t.Errorf("there are %d jobs", n)
	}
}

// TestNoUpdateIsLostOfOneJob: 200 writers over two services put one job, and then patch it; ten more replace what they have
// read of it, if it still is so. It is made once, all are heard, and it has one baton.
func TestNoUpdateIsLostOfOneJob(t *testing.T) {
	r := newReplicas(t, 2)
	r.collection(t, 1)
	k := scheduler.Key{Collection: "c", Job: "job"}
	var created atomic.Int64
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			s := r.services[i%2]
			for t.Context().Err() == nil {
				_, isNew, err := s.Put(t.Context(), control.Edit{Key: k, Body: []byte(`{"labels": {"first": "yes"}, ` + callLater + `}`)})
				if errors.Is(err, scheduler.ErrConflict) {
					continue // overtaken too often
				}
				if err != nil {
					t.Error(err)
				}
				if isNew {
					created.Add(1)
				}
				break
			}
		})
	}
	all.Wait()
	if created.Load() != 1 {
		t.Errorf("created %d times", created.Load())
	}
	for i := range writers {
		all.Go(func() { patchUntilHeard(t, r.services[i%2], k, fmt.Sprintf(`{"data": {"w%d": 1}}`, i)) })
	}
	for i := range careful {
		all.Go(func() { addLabel(t, r.services[i%2], k, fmt.Sprintf("w%d", i)) })
	}
	all.Wait()
	v := must.Get(r.services[0].Get(t.Context(), k))(t)
	labels, data := len(v.Job.Def.Labels), len(v.Job.Def.Data.Members())
	if labels != careful+1 || data != writers || v.Job.Generation != 1+careful+writers {
		t.Errorf("%d labels and %d data in generation %d, want %d and %d", labels, data, v.Job.Generation, careful+1, writers)
	}
	batons := 0
	for lane := range r.stores[0].Lanes() {
		must.Do(t, r.stores[0].EachBaton(t.Context(), lane, func(scheduler.BatonKey, bool) error { batons++; return nil }))
	}
	if batons != 1 {
		t.Errorf("%d batons", batons)
	}
}

// careful is how many of the writers replace what they have read.
const careful = 10

// patchUntilHeard patches a job, again when others overtake it all the while.
func patchUntilHeard(t *testing.T, s *control.Service, k scheduler.Key, patch string) {
	for t.Context().Err() == nil {
		_, err := s.Patch(t.Context(), control.Edit{Key: k, Body: []byte(patch)})
		if err == nil {
			return
		}
		if !errors.Is(err, scheduler.ErrConflict) {
			t.Error(err)
			return
		}
	}
}

// addLabel adds a label to a job by replacing them as they were read, if the job still is so, until that succeeds.
func addLabel(t *testing.T, s *control.Service, k scheduler.Key, name string) {
	for t.Context().Err() == nil {
		v, err := s.Get(t.Context(), k)
		if err != nil {
			t.Error(err)
			return
		}
		set := []string{fmt.Sprintf("%q: %q", name, "x")}
		for label, value := range v.Job.Def.Labels {
			set = append(set, fmt.Sprintf("%q: %q", label, value))
		}
		when, err := scheduler.ReadCondition([]string{v.ETag()}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		_, err = s.If(when).Patch(t.Context(), control.Edit{Key: k, Body: []byte(`{"labels": {` + strings.Join(set, ", ") + `}}`)})
		if err == nil {
			return
		}
		if !errors.Is(err, scheduler.ErrPrecondition) && !errors.Is(err, scheduler.ErrConflict) {
			t.Error(err)
			return
		}
	}
}
