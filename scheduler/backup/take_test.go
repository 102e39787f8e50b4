package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/backup"
	"github.com/carillon-sched/carillon/store"
)

// slow is a store with slow responses: jobs fire and are edited between two of them.
type slow struct{ *store.Store }

func (s slow) FindBatons(ctx context.Context, keys []scheduler.Key, found func(scheduler.Stored, bool)) error {
	defer time.Sleep(300 * time.Millisecond)
	return s.Store.FindBatons(ctx, keys, found)
}

func (s slow) FindDetached(
	ctx context.Context, keys []scheduler.Key, found func(scheduler.BatonKey, scheduler.Stored, bool),
) error {
	defer time.Sleep(400 * time.Millisecond)
	return s.Store.FindDetached(ctx, keys, found)
}

// TestBackupWhileJobsFire takes backups while jobs fire every second and are edited and deleted. Each backup has each
// job once, with one baton that matches its counters. After a restore, the job runs every occurrence that had not run
// before the backup.
func TestBackupWhileJobsFire(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from", Lanes: 2})
		body := func(i int) string {
			return fmt.Sprintf(`{"startTime": "2000-01-01T00:00:05Z", "labels": {"n": "%d"}, "catchUp": {"policy": "all"}, %s, `+
				`"recurrence": {"frequency": "second", "count": 60}}`, i, to("", fine))
		}
		const jobs = 20
		for i := range jobs {
			from.put(fmt.Sprintf("job%d", i), body(0))
		}
		from.start()
		time.Sleep(8 * time.Second)
		ctx, stop := context.WithCancel(t.Context())
		var edits sync.WaitGroup
		edits.Go(func() { editAll(ctx, from, body) })
		var file []byte
		for range 10 {
			began := time.Now()
			file = from.takeOf(slow{from.store})
			if time.Since(began) < 2*700*time.Millisecond {
				t.Error("no job was looked at again")
			}
			checkSeconds(t, file, began, jobs)
		}
		stop()
		edits.Wait()
		from.halt()
		back := newSystem(t, s, key1, store.Config{Prefix: "back", Lanes: 5})
		must.Get(back.restore(file))(t)
		back.start()
		time.Sleep(5 * time.Minute)
		for i := range jobs {
			name := fmt.Sprintf("job%d", i)
			keys := map[string]bool{}
			for _, c := range slices.Concat(from.sink.seen(name), back.sink.seen(name)) {
				keys[c.key] = true
			}
			v, err := back.service.Get(t.Context(), key(name))
			if len(keys) != 60 || err != nil || v.Job.State != scheduler.Completed || v.Status.Occurrences != 60 {
				t.Errorf("%s: %d occurrences were called, and %d counted; it is %s, %v", name, len(keys), v.Status.Occurrences, v.Job.State, err)
			}
		}
	})
}

// editAll edits ten jobs repeatedly, and creates and deletes another one, until ctx is done.
func editAll(ctx context.Context, s *system, body func(i int) string) {
	for i := 1; ctx.Err() == nil; i++ {
		s.put(fmt.Sprintf("job%d", i%10), body(i)) //nolint:contextcheck // an edit that is begun is brought to its end
		if i%7 == 0 {
			s.put("passing", body(i))                                  //nolint:contextcheck // as above
			s.must(s.service.Delete(s.t.Context(), key("passing"), 0)) //nolint:contextcheck // as above
		}
		time.Sleep(170 * time.Millisecond)
	}
}

// checkSeconds checks a backup of jobs that fire every second since second 5.
func checkSeconds(t *testing.T, file []byte, began time.Time, jobs int) {
	t.Helper()
	r := must.Get(backup.NewReader(bytes.NewReader(file)))(t)
	defer r.Close()
	seen := 0
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != backup.Job || e.Name == "default/passing" {
			continue
		}
		seen++
		if len(e.Batons) != 1 {
			t.Errorf("%s has %d batons", e.Name, len(e.Batons))
			continue
		}
		b := e.Batons[0]
		if at := time.Date(2000, 1, 1, 0, 0, 5+b.Runs, 0, time.UTC); !b.Nominal.Equal(at) || b.Nominal.Before(began.Add(-time.Second)) {
			t.Errorf("%s: after %d runs it is at %s, by a backup of %s", e.Name, b.Runs, b.Nominal, began)
		}
	}
	if seen != jobs {
		t.Errorf("%d jobs in the backup", seen)
	}
}

// TestBackupHasResubmittedRuns takes a backup while a resubmitted run waits for its retry, and restores it: the run
// continues.
func TestBackupHasResubmittedRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		key1 := newKey(t)
		from := newSystem(t, s, key1, store.Config{Prefix: "from"})
		from.put("failing", `{"startTime": "2000-01-01T00:00:05Z", `+to("fail", `}, "retryPolicy": {"retryType": "fixed", "retryInterval": "PT1M", "retryCount": 1}`)+`}`)
		from.start()
		time.Sleep(2 * time.Minute)
		must.Get(from.service.Resubmit(t.Context(), key("failing"), []byte(`{"occurrence": "default/failing@2000-01-01T00:00:05Z"}`)))(t)
		time.Sleep(5 * time.Second)
		file := from.take()
		entries, _, err := read(file)
		from.must(err)
		var names []string
		for _, e := range entries {
			if e.Kind != backup.Job {
				continue
			}
			names = append(names, e.Name)
			if len(e.Batons) != 1 || e.Batons[0].Resubmits == nil {
				t.Errorf("%s has the batons %+v", e.Name, e.Batons)
			}
		}
		if !slices.Equal(names, []string{"default/failing"}) {
			t.Fatalf("the backup has the jobs %v", names)
		}
		from.halt()
		back := newSystem(t, s, key1, store.Config{Prefix: "back"})
		must.Get(back.restore(file))(t)
		back.start()
		time.Sleep(2 * time.Minute)
		if calls := back.sink.seen("failing"); len(calls) != 1 {
			t.Errorf("the restored run made the calls %+v, want its retry", calls)
		}
	})
}

// TestBackupFailsOnDamage damages a token and a baton: a backup fails and names them, and a partial one counts them.
func TestBackupFailsOnDamage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server.Server) {
		from := newSystem(t, s, newKey(t), store.Config{Prefix: "from"})
		from.put("later", `{"startTime": "2000-01-01T00:30:00Z", `+to("", fine)+`}`)
		from.must(from.store.Clear(t.Context(), key("later"), nil))
		from.must(from.store.ScheduleAt(t.Context(), scheduler.BatonKey{Key: key("later")}, []byte("garbage"), time.Now().Add(time.Hour), 0))
		must.Get(from.store.Tokens().Save(t.Context(), "NOT-AN-ID", []byte(`{}`), 0))(t)
		take := func(partial bool) ([]byte, error) {
			var file bytes.Buffer
			w := must.Get(backup.NewWriter(&file, backup.Header{Prefix: "from"}))(t)
			err := backup.Take(t.Context(), backup.TakeConfig{Store: from.store, Tokens: true, Partial: partial}, w)
			_, failed := w.Close()
			from.must(failed)
			return file.Bytes(), err
		}
		_, err := take(false)
		omitted, ok := errors.AsType[*backup.OmittedError](err)
		if !ok || !slices.Equal(omitted.Names, []string{"the baton of job default/later", "token NOT-AN-ID"}) {
			t.Errorf("a backup of damaged entries: %v", err)
		}
		file := must.Get(take(true))(t)
		if _, has, err := read(file); err != nil || has.Omitted != 2 || has.Jobs != 1 || has.Tokens != 0 {
			t.Errorf("a partial backup has %+v, %v", has, err)
		}
	})
}
