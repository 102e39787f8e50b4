package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// saveSnapshot saves a snapshot unless the stored one is younger.
func saveSnapshot(t *testing.T, st *store.Store, text string, younger time.Duration) error {
	t.Helper()
	return st.SaveSnapshot(t.Context(), younger, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// loadSnapshot returns the snapshot, or "" if the store has no valid one.
func loadSnapshot(t *testing.T, st *store.Store) (text string) {
	t.Helper()
	err := st.LoadSnapshot(t.Context(), func(r io.Reader) error {
		data, err := io.ReadAll(r)
		text = string(data)
		return err
	})
	if err != nil {
		t.Log(err)
		return ""
	}
	return text
}

// TestSnapshotIsShared: processes read the last snapshot, and replace an old one.
func TestSnapshotIsShared(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		_, other := w.open()
		loads := func(what, want string) {
			t.Helper()
			if got := loadSnapshot(t, other); got != want {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		loads("at first", "")
		w.must(saveSnapshot(t, w.store, "one", time.Hour))
		loads("one", "one")
		w.must(saveSnapshot(t, other, "two", time.Minute))
		loads("a young one is not replaced", "one")
		time.Sleep(2 * time.Minute)
		w.must(saveSnapshot(t, other, "two", time.Minute))
		loads("an old one is replaced", "two")
		time.Sleep(2 * time.Minute)
		broken := errors.New("broken")
		if err := other.SaveSnapshot(t.Context(), 0, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
			t.Errorf("a failed write: %v", err)
		}
		loads("after a failed write", "two")
		revision := must.Get(w.store.SaveJob(t.Context(), job, []byte("x"), 0, false))(t)
		w.must(w.store.RemoveJob(t.Context(), job, revision, 0))
		loads("after later changes", "two")
		time.Sleep(52 * time.Minute)
		loads("while the markers of all later deletions are stored", "two")
		time.Sleep(2 * time.Minute)
		loads("later", "")
		time.Sleep(2 * time.Hour)
		if n := w.messages("OBJ_carillon-index"); n != 0 {
			t.Errorf("%d messages of a useless snapshot are left", n)
		}
	})
}

// TestSnapshotOfAnotherPast: a snapshot is invalid if a stream was replaced, or has lost messages and has others in their place.
func TestSnapshotOfAnotherPast(t *testing.T) {
	inBubbles(t, map[string]func(w *harness, last *time.Time, sequence *uint64){
		"the jobs were replaced": func(w *harness, _ *time.Time, _ *uint64) {
			w.must(w.js.DeleteStream(w.t.Context(), "KV_carillon-jobs"))
		},
		"the batons were replaced": func(w *harness, _ *time.Time, _ *uint64) {
			w.must(w.js.DeleteStream(w.t.Context(), "CARILLON_TIMERS_0"))
		},
		"a change was lost":       func(_ *harness, _ *time.Time, sequence *uint64) { *sequence += 2 },
		"a change is another one": func(_ *harness, last *time.Time, _ *uint64) { *last = last.Add(-1) },
	}, func(t *testing.T, w *harness, change func(w *harness, last *time.Time, sequence *uint64)) {
		must.Get(w.store.SaveJob(t.Context(), job, []byte("x"), 0, false))(t)
		w.must(w.store.ScheduleAt(t.Context(), own, []byte("x"), time.Now().Add(time.Hour), 0))
		w.must(saveSnapshot(t, w.store, "one", 0))
		objects := must.Get(w.js.ObjectStore(t.Context(), "carillon-index"))(t)
		info := must.Get(objects.GetInfo(t.Context(), "jobs"))(t)
		var origin struct {
			Taken   time.Time `json:"taken"`
			Streams map[string]struct {
				Created time.Time `json:"created"`
				At      time.Time `json:"at"`
				Last    uint64    `json:"last"`
			} `json:"streams"`
		}
		w.must(json.Unmarshal([]byte(info.Metadata["origin"]), &origin))
		p := origin.Streams["KV_carillon-jobs"]
		must.Get(w.store.SaveJob(t.Context(), scheduler.Key{Collection: "c", Job: "later"}, []byte("x"), 0, false))(t)
		if got := loadSnapshot(t, w.store); got != "one" || p.Last != 1 || len(origin.Streams) != 2 {
			t.Fatalf("before: %q, %+v", got, origin)
		}
		change(w, &p.At, &p.Last)
		origin.Streams["KV_carillon-jobs"] = p
		info.Metadata["origin"] = string(must.Get(json.Marshal(origin))(t))
		w.must(objects.UpdateMeta(t.Context(), "jobs", info.ObjectMeta))
		_, again := w.open()
		if got := loadSnapshot(t, again); got != "" {
			t.Errorf("it is valid: %q", got)
		}
	})
}

// TestSnapshotWithDamagedChunk: the digest of an object store is verified at the end.
func TestSnapshotWithDamagedChunk(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(saveSnapshot(t, w.store, "one", 0))
		info := must.Get(must.Get(w.js.ObjectStore(t.Context(), "carillon-index"))(t).GetInfo(t.Context(), "jobs"))(t)
		chunks := "$O.carillon-index.C." + info.NUID
		w.must(must.Get(w.js.Stream(t.Context(), "OBJ_carillon-index"))(t).Purge(t.Context(), jetstream.WithPurgeSubject(chunks)))
		must.Get(w.js.Publish(t.Context(), chunks, []byte("two")))(t)
		if got := loadSnapshot(t, w.store); got != "" {
			t.Errorf("it is valid: %q", got)
		}
	})
}

// TestSnapshotWithoutPermission: a scheduler works if its NATS user may not create the object store or publish to it.
func TestSnapshotWithoutPermission(t *testing.T) {
	s := storetest.Server(t, func(o *server.Options) {
		for name, deny := range map[string]string{"creates-not": "$JS.API.STREAM.CREATE.OBJ_carillon-index", "writes-not": "$O.carillon-index.>", "all": "none"} {
			o.Users = append(o.Users, &server.User{Username: name, Password: "x", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: []string{deny}},
			}})
		}
	})
	for _, name := range []string{"creates-not", "all", "writes-not"} { // sequentially
		nc := connect(t, s, nats.UserInfo(name, "x"))
		st, err := open(t, nc, store.Config{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		must.Do(t, saveSnapshot(t, st, name, 0))
		if got, want := loadSnapshot(t, st), map[string]string{"all": "all"}[name]; got != want {
			t.Errorf("%s: %q", name, got)
		}
		if err := nc.LastError(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSnapshotOfManyChunks reads what was written in many parts.
func TestSnapshotOfManyChunks(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const parts, size = 40, 100_000
		w.must(w.store.SaveSnapshot(t.Context(), 0, func(to io.Writer) error {
			for i := range parts {
				if _, err := fmt.Fprintf(to, "%0*d", size, i); err != nil {
					return err
				}
			}
			return nil
		}))
		if got := loadSnapshot(t, w.store); len(got) != parts*size || got[len(got)-2:] != "39" {
			t.Errorf("%d bytes", len(got))
		}
	})
}
