package jobcache

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// jobStore keeps definitions in memory, and counts how often they are read.
type jobStore struct {
	scheduler.Jobs

	data   map[scheduler.Key][]byte
	edits  uint64 // of all jobs
	loads  int
	within func() // called while a job is read; nil: nothing
}

func (s *jobStore) LoadJob(_ context.Context, k scheduler.Key) (scheduler.Stored, error) {
	s.loads++
	if s.within != nil {
		s.within()
	}
	return scheduler.Stored{Key: k, Revision: 1 + s.edits, Data: s.data[k]}, nil
}

func (s *jobStore) LoadJobs(_ context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	s.loads++
	for _, k := range keys {
		each(scheduler.Stored{Key: k, Revision: 1 + s.edits, Data: s.data[k]})
	}
	return nil
}

func (*jobStore) WatchJobs(ctx context.Context, ready func(), _ func(scheduler.Key, uint64)) error {
	ready()
	<-ctx.Done()
	return nil
}

// noActions reads the only action of these jobs, which nothing runs.
type noActions struct{}

func (noActions) Types() []string { return []string{"None"} }

func (noActions) ReadAction(string, *document.Object) scheduler.Action { return noAction{} }

type noAction struct{}

func (noAction) Target() string { return "target:80" }

func (noAction) Invoke(context.Context, scheduler.Attempt) scheduler.Result {
	panic("nobody runs it")
}

// put stores a job, whatever its recurrence.
func (s *jobStore) put(t *testing.T, name, recurrence string) scheduler.Key {
	t.Helper()
	k := scheduler.Key{Collection: "default", Job: name}
	rest := `"uid":"U","generation":1,"scheduleGeneration":1,"created":"2026-01-01T00:00:00Z","updated":"2026-01-01T00:00:00Z",` +
		`"anchor":"2026-01-01T00:00:00Z","state":"enabled","properties":{"action":{"type":"None"}` + recurrence + `}}`
	s.data[k] = fmt.Appendf(nil, `{"form":"1%08x",%s`, crc32.Checksum([]byte(rest), crc32.MakeTable(crc32.Castagnoli)), rest)
	return k
}

// costly is a schedule that is refused, also of a stored job.
var costly = `,"recurrence":{"rrule":"DTSTART:20310101T000000Z` +
	strings.Repeat(" RRULE:FREQ=MINUTELY;INTERVAL=438;BYMONTHDAY=-3,-5,13,14,15,16,17,18,19;COUNT=99000000", 20) + `"}`

// TestJobsCompileWhenAsked shows that to read jobs compiles no text of a schedule. Who first asks for such a job compiles
// it, once; and is told when it is damaged. Others can be had at once.
func TestJobsCompileWhenAsked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := &jobStore{data: map[scheduler.Key][]byte{}}
		once := store.put(t, "once", "")
		weekly := store.put(t, "weekly", `,"recurrence":{"frequency":"week"}`)
		cron := store.put(t, "cron", `,"recurrence":{"cron":"0 6 * * *"}`)
		hurt := store.put(t, "hurt", costly)
		all := []scheduler.Key{once, weekly, cron, hurt}

		jobs := NewJobs(store, noActions{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			jobs.Run(ctx, func(error) {})
			close(done)
		}()
		synctest.Wait()
		jobs.Fill(t.Context(), all, func(Read) bool { return false })
		for _, k := range all {
			_, ready := jobs.Peek(k)
			if want := k == once || k == weekly; ready != want || jobs.Uncompiled(k) == want {
				t.Errorf("%s: can be had at once: %t; uncompiled: %t", k, ready, jobs.Uncompiled(k))
			}
		}
		first, err := jobs.Current(t.Context(), cron, 0)
		if err != nil || first.Plan == nil {
			t.Fatalf("%+v, %v", first, err)
		}
		if again, ready := jobs.Peek(cron); !ready || again != first {
			t.Errorf("it is compiled again: %p, %p", again, first)
		}
		for range 2 {
			_, err := jobs.Current(t.Context(), hurt, 0)
			if damaged, ok := errors.AsType[*scheduler.DamagedError](err); !ok || !strings.Contains(damaged.Reason, "too costly") {
				t.Errorf("a costly one: %v", err)
			}
		}
		if store.loads != 1 {
			t.Errorf("the store was read %d times", store.loads)
		}
		cancel()
		<-done
	})
}

// TestCompiledJobThatHasChanged has a job that changes while it is read: neither what was read nor what is compiled of it
// is kept.
func TestCompiledJobThatHasChanged(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := &jobStore{data: map[scheduler.Key][]byte{}}
		k := store.put(t, "cron", `,"recurrence":{"cron":"0 6 * * *"}`)
		jobs := NewJobs(store, noActions{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			jobs.Run(ctx, func(error) {})
			close(done)
		}()
		synctest.Wait()
		store.within = func() {
			store.edits++
			jobs.Note(k, 1+store.edits, nil)
		}
		for range 2 {
			if j, err := jobs.Current(t.Context(), k, 0); err != nil || j.Plan == nil {
				t.Errorf("%+v, %v", j, err)
			}
		}
		if _, ready := jobs.Peek(k); ready || jobs.Uncompiled(k) || store.loads != 2 {
			t.Errorf("an earlier revision is kept: %t; it was read %d times", ready || jobs.Uncompiled(k), store.loads)
		}
		cancel()
		<-done
	})
}
