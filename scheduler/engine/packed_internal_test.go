package engine

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// herdStore delivers a herd to a worker, and has the definitions. Nothing else is asked of it before the herd is due.
type herdStore struct {
	scheduler.Store

	size   int
	due    time.Time
	reader scheduler.ActionReader
	putOff atomic.Int32
}

func (s *herdStore) Waits() bool                          { return false }
func (s *herdStore) Now() time.Time                       { return time.Now() }
func (s *herdStore) Ahead() time.Duration                 { return 0 }
func (s *herdStore) Lanes() int                           { return 1 }
func (s *herdStore) Secrets() scheduler.Bucket            { return empty{} }
func (s *herdStore) Listeners() scheduler.Bucket          { return empty{} }
func (s *herdStore) Collections() scheduler.CheckedBucket { return empty{} }

func (s *herdStore) WatchJobs(ctx context.Context, ready func(), _ func(scheduler.Key, uint64)) error {
	return empty{}.Watch(ctx, ready, nil)
}

// Deliver sends the herd, each with the headers of its message before it, as they come from the server.
func (s *herdStore) CloseRecords(context.Context) error { return nil }

func (s *herdStore) DeliverEvents(ctx context.Context, _ <-chan struct{}, _ func() int, _ func(scheduler.DeliveredEvent)) error {
	<-ctx.Done()
	return nil
}

func (s *herdStore) Deliver(ctx context.Context, _ int, wake <-chan struct{}, room func() int, take func(*scheduler.Delivery)) error {
	for i := 0; i < s.size; {
		for n := room(); n > 0 && i < s.size; n, i = n-1, i+1 {
			subject := strings.Split(fmt.Sprintf("carillon.fire.3.default.job-%06d", i), ".")
			k := scheduler.Key{Collection: subject[3], Job: subject[4]}
			j := s.job(k)
			baton := j.Begin(scheduler.Progress{}, time.Now()).Next.Encode()
			m := append(make([]byte, 130, 130+len(baton)), baton...)
			take(&scheduler.Delivery{
				BatonKey: scheduler.BatonKey{Key: k}, Body: m[130:], Sequence: uint64(i + 1), Deliveries: 1, Fired: time.Now().Add(time.Hour), Lease: &nobody{},
			})
			if i%100 == 0 {
				time.Sleep(10 * time.Millisecond)
			}
		}
		if i < s.size && room() == 0 {
			select {
			case <-wake:
			case <-ctx.Done():
				return nil
			}
		}
	}
	<-ctx.Done()
	return nil
}

func (s *herdStore) job(k scheduler.Key) *scheduler.Job {
	doc, err := scheduler.ParseDocument(fmt.Appendf(nil, `{"startTime": %q, "action": {"type": "Http", "request": {"uri": "http://127.0.0.1:40123/",
		"method": "POST", "headers": {"Content-Type": "application/json"}, "body": "order=4711&amount=12.5&for=%s"}}}`, s.due.Format(time.RFC3339Nano), k.Job))
	if err != nil {
		panic(err)
	}
	r := &scheduler.DefinitionDecoder{Actions: s.reader, Key: k}
	def, err := r.Document(doc).Definition()
	if err != nil {
		panic(err)
	}
	j, err := scheduler.NewJob(k, "Qm9rZW5IZWFydHNBcmVI", def, time.Now(), 0)
	if err != nil {
		panic(err)
	}
	j.Revision = 1
	return j
}

func (s *herdStore) LoadJob(_ context.Context, k scheduler.Key) (scheduler.Stored, error) {
	data, err := s.job(k).Encode(nil)
	m := append(make([]byte, 200, 200+len(data)), data...)
	return scheduler.Stored{Key: k, Revision: 1, Data: m[200:]}, err
}

func (s *herdStore) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	for _, k := range keys {
		st, err := s.LoadJob(ctx, k)
		if err != nil {
			return err
		}
		each(st)
	}
	return nil
}

// empty is a bucket in which nothing is and nothing happens.
type empty struct{ scheduler.CheckedBucket }

func (empty) Watch(ctx context.Context, ready func(), _ func(string, uint64, []byte)) error {
	ready()
	<-ctx.Done()
	return nil
}

func (s *herdStore) Reschedule(context.Context, scheduler.BatonKey, []byte, time.Time, uint64) error {
	s.putOff.Add(1)
	return nil
}

// nobody is a lease.
type nobody struct{ scheduler.Lease }

func (*nobody) Ack() error              { return nil }
func (*nobody) Nak(time.Duration) error { return nil }

// TestHeldBytesAreCounted has a worker hold a herd far ahead: all of it fits into its share of a HoldMemory that is enough
// for 100,000 by default, so that none is put off and fired again, and it takes no more memory than it counts for.
func TestHeldBytesAreCounted(t *testing.T) {
	const herd = 4_000
	bubble.Test(t, func(t *testing.T) {
		registry := actions.New(web.New(web.Config{}))
		store := &herdStore{size: herd, due: time.Now().Add(10 * time.Minute).UTC(), reader: registry}
		w := New(Config{Store: store, Actions: registry, HoldMemory: DefaultHoldMemory * herd / 100_000})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		before := heapInUse()
		go func() { ended <- w.Run(ctx) }()
		time.Sleep(time.Minute)
		synctest.Wait()
		took := heapInUse() - before
		counted := w.buffer.Size()
		if len(w.timers.queue) != herd || store.putOff.Load() != 0 {
			t.Errorf("%d are held and %d put off of a herd of %d", len(w.timers.queue), store.putOff.Load(), herd)
		}
		if took > counted {
			t.Errorf("%d bytes a run are in use, and %d counted", took/herd, counted/herd)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// heapInUse is how many bytes are in use.
func heapInUse() int {
	var m runtime.MemStats
	for range 2 {
		runtime.GC() //nolint:revive // to count what is in use
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
