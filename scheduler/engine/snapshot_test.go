package engine_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestSnapshotEndsWithTheProcess restarts a process after everything that can happen to a job while it is down.
func TestSnapshotEndsWithTheProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const far, hourly = `"startTime": "2000-06-01T00:00:00Z", `, `"recurrence": {"frequency": "Hour"}, `
		for _, name := range []string{"deleted", "recreated", "edited", "paused", "disabled", "same", "run"} {
			w.put(name, `{`+far+`"labels": {"team": "red"}, `+action+`}`)
		}
		w.put("hourly", `{`+hourly+action+`}`)
		w.put("ends", `{"startTime": "2000-01-01T00:10:00Z", `+action+`}`)
		s := w.newSearcher()
		w.awaitIndex(s)
		time.Sleep(3 * time.Minute) // until what was put just now is believed to stay as it is
		s.stop()

		w.must(w.service.Delete(t.Context(), key("deleted"), 0))
		w.must(w.service.Delete(t.Context(), key("recreated"), 0))
		w.put("recreated", `{"startTime": "2000-05-01T00:00:00Z", "labels": {"team": "blue"}, `+action+`}`)
		w.put("edited", `{`+far+`"labels": {"team": "blue"}, `+action+`}`)
		must.Get(w.service.Pause(t.Context(), key("paused"), time.Now().Add(24*time.Hour).Format(time.RFC3339)))(t)
		must.Get(w.service.Disable(t.Context(), key("disabled")))(t)
		must.Get(w.service.Trigger(t.Context(), key("run")))(t)
		w.put("new", `{`+far+action+`}`)
		time.Sleep(45 * time.Minute)

		s = w.newSearcher()
		w.awaitIndex(s)
		if snapshots, builds := s.store.loaded(); snapshots != 1 || builds != 0 {
			t.Errorf("%d snapshots were loaded, and all definitions were read %d times", snapshots, builds)
		}
		may, june := time.Date(2000, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2000, 6, 1, 0, 0, 0, 0, time.UTC)
		for name, q := range map[string]scheduler.JobQuery{
			"all": {}, "red": {Labels: selector(t, "team=red")}, "blue": {Labels: selector(t, "team=blue")},
			"enabled": {State: scheduler.Enabled}, "completed": {State: scheduler.Completed}, "disabled": {State: scheduler.Disabled},
			"paused": {State: scheduler.Enabled, PausedAt: time.Now()}, "soon": {Before: time.Now().Add(2 * time.Hour)},
			"may": {From: may, Before: may.Add(time.Hour)}, "june": {From: june, Before: june.Add(time.Hour)},
			"last completed": {Outcome: scheduler.OutcomeCompleted}, "never ran": {Outcome: scheduler.NeverRan},
		} {
			got, want := w.found(s.Service, q, v1.Page{}), w.found(w.service, q, v1.Page{})
			if got != want || got == "" {
				t.Errorf("%s:\nthe index finds  %s\na scan finds     %s", name, got, want)
			}
		}
	})
}

// TestSnapshotWhileTheProcessRuns kills a process: the next one finds the snapshot that it wrote meanwhile.
func TestSnapshotWhileTheProcessRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.putMany(20, "j%02d", `{"startTime": "2000-06-01T00:00:00Z", `+action+`}`)
		w.awaitIndex(w.newSearcher())
		for range 4 {
			time.Sleep(50 * time.Minute)
			synctest.Wait()
			s := w.newSearcher()
			w.awaitIndex(s)
			if snapshots, builds := s.store.loaded(); snapshots != 1 || builds != 0 {
				t.Errorf("%d snapshots were loaded, and all definitions were read %d times", snapshots, builds)
			}
			s.stop()
		}
	})
}

// snapshotStore is a store with another snapshot.
type snapshotStore struct {
	scheduler.Store

	change func([]byte) []byte
}

func (s snapshotStore) LoadSnapshot(ctx context.Context, read func(io.Reader) error) error {
	return s.Store.LoadSnapshot(ctx, func(r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		return read(bytes.NewReader(s.change(data)))
	})
}

// TestUselessSnapshotIsIgnored starts with a snapshot that is damaged, too old or of another store: the index is built.
func TestUselessSnapshotIsIgnored(t *testing.T) {
	rows := map[string]struct {
		change func([]byte) []byte
		before func(w *harness)
	}{
		"truncated": {change: func(b []byte) []byte { return b[:len(b)-5] }},
		"empty":     {change: func([]byte) []byte { return nil }},
		"flipped":   {change: func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
		"too old":   {before: func(*harness) { time.Sleep(56 * time.Minute) }},
		"without batons": {before: func(w *harness) {
			w.must(w.jetStream().DeleteStream(w.t.Context(), "CARILLON_TIMERS_0"))
			w.stopWorker()
			_, w.store = w.open()
			w.startWorker()
		}},
		"without an object store": {before: func(w *harness) { w.must(w.jetStream().DeleteObjectStore(w.t.Context(), "carillon-index")) }},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) {
				for i := range 20 {
					w.put(fmt.Sprintf("j%02d", i), fmt.Sprintf(`{"startTime": "2000-06-01T00:00:00Z", "labels": {"n": "%d"}, %s}`, i%2, action))
				}
				s := w.newSearcher()
				w.awaitIndex(s)
				s.stop()
				if row.before != nil {
					row.before(w)
				}
				s = w.newSearcher(func(st *watched) {
					if row.change != nil {
						st.Store = snapshotStore{st.Store, row.change}
					}
				})
				w.awaitIndex(s)
				if snapshots, builds := s.store.loaded(); snapshots != 0 || builds != 1 {
					t.Errorf("%d snapshots were loaded, and all definitions were read %d times", snapshots, builds)
				}
				q := scheduler.JobQuery{Labels: selector(t, "n=1")}
				if got, want := w.found(s.Service, q, v1.Page{}), w.found(w.service, q, v1.Page{}); got != want || got == "" {
					t.Errorf("the index finds %s, a scan finds %s", got, want)
				}
				s.stop()
			})
		})
	}
}

func (w *harness) jetStream() jetstream.JetStream { return must.Get(jetstream.New(w.nc))(w.t) }

// brokenSnapshots is a store that fails to store a snapshot, or has none yet.
type brokenSnapshots struct{ scheduler.Store }

func (brokenSnapshots) SaveSnapshot(_ context.Context, _ time.Duration, write func(io.Writer) error) error {
	return errors.Join(write(io.Discard), errBroken)
}

func (brokenSnapshots) LoadSnapshot(context.Context, func(io.Reader) error) error { return errBroken }

var errBroken = errors.New("broken")

// TestUnusableObjectStoreChangesNothing cannot save or load a snapshot.
func TestUnusableObjectStoreChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.put("a", `{"startTime": "2000-06-01T00:00:00Z", `+action+`}`)
		s := w.newSearcher(func(st *watched) { st.Store = brokenSnapshots{st.Store} })
		w.awaitIndex(s)
		time.Sleep(2 * time.Hour)
		w.put("b", `{"startTime": "2000-06-01T00:00:00Z", `+action+`}`)
		if got := w.found(s.Service, scheduler.JobQuery{State: scheduler.Enabled}, v1.Page{}); got != "default/a default/b" {
			t.Errorf("found %s", got)
		}
		s.stop()
	})
}

// TestSnapshotRows has jobs of all kinds in a snapshot. If the index derives other values from them, it must not load the
// snapshots of earlier builds: increase snapshotVersion in package index, and the version here.
func TestSnapshotRows(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const far = `"startTime": "2000-06-01T00:00:00Z", `
		w.sink.answer = failingAt("down")
		for name, body := range map[string]string{
			"Capital":   far + action,
			"completed": action,
			"faulted":   `"action": ` + retried("down", `"retryType": "none"`),
			"hourly":    `"recurrence": {"frequency": "Hour"}, "labels": {"team": "red", "tier": "1"}, ` + action,
			"failing":   `"recurrence": {"frequency": "Hour"}, "action": ` + retried("down", `"retryType": "none"`),
			"disabled":  far + `"state": "disabled", ` + action,
			"paused":    far + `"pausedUntil": "2000-02-01T00:00:00Z", ` + action,
			"triggered": `"trigger": {"on": {"source": "orders"}}, ` + action,
		} {
			w.put(name, `{`+body+`}`)
		}
		time.Sleep(30 * time.Minute)
		s := w.newSearcher()
		w.awaitIndex(s)
		time.Sleep(10 * time.Minute)
		s.stop()
		var got strings.Builder
		w.must(w.store.LoadSnapshot(t.Context(), func(r io.Reader) error {
			from := must.Get(zstd.NewReader(r))(t)
			defer from.Close()
			var page struct {
				Version int
				Groups  []struct {
					Collection string
					Labels     []scheduler.Label
					Call       struct{ Action, Address, Target string }
				}
				Rows []struct {
					Name               string
					Group              uint32
					Next, Last, Paused int64
					State, Ended       uint8
					Hears              bool
				}
			}
			w.must(gob.NewDecoder(from).Decode(&page))
			fmt.Fprintf(&got, "version %d\n", page.Version)
			for _, row := range page.Rows {
				of := page.Groups[row.Group]
				fmt.Fprintf(&got, "%s/%s %v %v next %d last %d paused %d state %d ended %d hears %t\n", of.Collection, row.Name, of.Labels, of.Call,
					row.Next, row.Last, row.Paused, row.State, row.Ended, row.Hears)
			}
			_, err := io.Copy(io.Discard, from)
			return err
		}))
		const want = `version 1
default/Capital [] {Http target.example target.example:80} next 959817600000 last 0 paused 0 state 1 ended 7 hears false
default/completed [] {Http target.example target.example:80} next 0 last 946684800 paused 0 state 3 ended 2 hears false
default/disabled [] {Http target.example target.example:80} next 0 last 0 paused 0 state 2 ended 7 hears false
default/failing [] {Http down.example down.example:80} next 946688400000 last 946684800 paused 0 state 1 ended 0 hears false
default/faulted [] {Http down.example down.example:80} next 0 last 946684800 paused 0 state 4 ended 0 hears false
default/hourly [{team red} {tier 1}] {Http target.example target.example:80} next 946688400000 last 946684800 paused 0 state 1 ended 2 hears false
default/paused [] {Http target.example target.example:80} next 959817600000 last 0 paused 949363200000 state 1 ended 7 hears false
default/triggered [] {Http target.example target.example:80} next 253402300799999 last 0 paused 0 state 1 ended 7 hears true
`
		if got.String() != want {
			t.Errorf("got\n%s\nwant\n%s", &got, want)
		}
	})
}
