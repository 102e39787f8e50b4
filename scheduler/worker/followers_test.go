package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// TestFollowersShareWhatTheyKnow has many follow the histories of many jobs: they are told of every record, and look each job up
// once, with one watch, however many they are; a watch that is lost ends all of them, and who comes then has another one.
func TestFollowersShareWhatTheyKnow(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const followers, jobs, runs = 20, 10, 3
		st := &watched{Store: w.store}
		s := service.New(service.Config{Store: st, Actions: w.actions(), Secrets: w.vault})
		for i := range jobs {
			w.put(fmt.Sprintf("j%d", i), `{"recurrence": {"frequency": "Minute", "count": 100}, `+action+`}`)
		}
		time.Sleep(time.Second)
		var told atomic.Int64
		follow := func(ctx context.Context, k scheduler.Key) error {
			return s.Follow(ctx, service.HistoryQuery{Key: k}, service.Tail{
				Ready: func(service.Beginning) {}, Record: func(*scheduler.Record) { told.Add(1) },
			})
		}
		ends := make(chan error, followers+1)
		var all sync.WaitGroup
		for range followers {
			all.Go(func() { ends <- follow(t.Context(), scheduler.Key{}) })
		}
		time.Sleep(runs*time.Minute + time.Second)
		synctest.Wait()
		if n := told.Load(); n != followers*jobs*runs {
			t.Errorf("%d records were told, want %d", n, followers*jobs*runs)
		}
		if st.watches != 1 || st.loads != jobs {
			t.Errorf("%d watches, and %d jobs were looked up, of %d", st.watches, st.loads, jobs)
		}

		// Who begins earlier than the others has it all, once: also the first runs, when the jobs were put.
		var late []uint64
		behind, stop := context.WithCancel(t.Context())
		all.Go(func() {
			err := s.Follow(behind, service.HistoryQuery{}, service.Tail{
				After: new(uint64), Ready: func(service.Beginning) {}, Record: func(r *scheduler.Record) { late = append(late, r.Sequence) },
			})
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		synctest.Wait()
		if len(late) != jobs*(runs+2) || !slices.IsSorted(late) || len(slices.Compact(late)) != jobs*(runs+2) {
			t.Errorf("from the beginning: %d", late)
		}

		// A job that is deleted ends those alone who follow it.
		own := scheduler.Key{Collection: "default", Job: "j0"}
		all.Go(func() { ends <- follow(t.Context(), own) })
		time.Sleep(time.Second)
		w.must(nil, w.service.Delete(t.Context(), own, 0))
		time.Sleep(time.Second)
		synctest.Wait()
		if len(ends) != 1 {
			t.Fatalf("%d have ended of one whose job was deleted", len(ends))
		} else if err := <-ends; !errors.Is(err, scheduler.ErrNotFound) {
			t.Errorf("its end: %v", err)
		}
		st.lose()
		all.Wait()
		for range followers {
			if err := <-ends; !errors.Is(err, errLost) {
				t.Errorf("a lost watch: %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() { ends <- follow(ctx, scheduler.Key{}) })
		before := told.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := told.Load() - before; n != jobs-1 || st.watches != 2 {
			t.Errorf("with another watch, %d records were told, and there were %d watches", n, st.watches)
		}
		cancel()
		all.Wait()
		if err := <-ends; err != nil {
			t.Errorf("who was asked to end: %v", err)
		}
	})
}
