package control_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/actions/web"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// taking is a store that takes whatever is written at once: what is left is the work of the service itself.
type taking struct {
	scheduler.Store

	revision uint64
}

func (s *taking) SaveJob(context.Context, scheduler.Key, []byte, uint64, bool) (uint64, error) {
	s.revision++
	return s.revision, nil
}

func (s *taking) LoadJob(context.Context, scheduler.Key) (scheduler.Stored, error) {
	return scheduler.Stored{}, scheduler.ErrNotFound
}

func (s *taking) Arm(context.Context, scheduler.BatonKey, []byte, time.Time, uint64) error {
	return nil
}

func (*taking) Waits() bool          { return false }
func (*taking) Now() time.Time       { return time.Now() }
func (*taking) Ahead() time.Duration { return 0 }

func (*taking) WatchJobs(ctx context.Context, _ func(), _ func(scheduler.Key, uint64)) error {
	<-ctx.Done()
	return nil
}

func (s *taking) Collections() scheduler.CheckedBucket { return oneCollection{} }

func (s *taking) Secrets() scheduler.Bucket { return oneCollection{} }

// oneCollection is a bucket with the settings of one collection.
type oneCollection struct{ scheduler.CheckedBucket }

func (oneCollection) Load(_ context.Context, name string) (scheduler.Stored, error) {
	return scheduler.Stored{Key: scheduler.Key{Collection: name}, Revision: 1, Data: []byte(storedCollection)}, nil
}

func (oneCollection) Watch(ctx context.Context, ready func(), changed func(name string, revision uint64, data []byte)) error {
	changed("default", 1, []byte(storedCollection))
	ready()
	<-ctx.Done()
	return nil
}

const storedCollection = `{"top":{},"properties":{}}`

// BenchmarkPut puts new jobs, and shows them as the API answers them.
func BenchmarkPut(b *testing.B) {
	const action = `"action":{"type":"http","request":{"uri":"http://127.0.0.1:8080/hook","method":"POST",` +
		`"body":"{\"order\":\"4711\",\"amount\":12.5}"}}`
	for _, kind := range []struct{ name, body string }{
		{"once", `{"startTime":"2099-01-01T00:00:00Z",` + action + `}`},
		{"recurring", `{"startTime":"2099-01-01T00:00:00Z","recurrence":{"frequency":"hour","interval":1},` + action + `}`},
	} {
		for _, shown := range []bool{false, true} {
			name := kind.name
			if shown {
				name += " shown"
			}
			b.Run(name, func(b *testing.B) {
				s := control.New(control.Config{Store: &taking{}, Actions: actions.New(web.New(web.Config{}))})
				go func() { _ = s.Run(b.Context()) }()
				b.ReportAllocs()
				n := 0
				for b.Loop() {
					n++
					edit := control.Edit{Key: scheduler.Key{Collection: "default", Job: "job-" + strconv.Itoa(n)}, Body: []byte(kind.body)}
					v, created, err := s.Put(b.Context(), edit)
					if err != nil || !created {
						b.Fatalf("created %t: %v", created, err)
					}
					if shown && len(v1.JSON(v)) == 0 {
						b.Fatal("no answer")
					}
				}
			})
		}
	}
}
