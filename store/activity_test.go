package store_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// told reads the activity reports after a sequence.
func (w *harness) told(after uint64) (all map[string]string, upTo uint64) {
	w.t.Helper()
	all = map[string]string{}
	upTo = must.Get(w.store.ReadActivity(w.t.Context(), after, func(name string, data []byte) { all[name] = string(data) }))(w.t)
	return all, upTo
}

// TestPulseIsReadAsTold: two processes report and one reads.
func TestPulseIsReadAsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		if all, upTo := w.told(0); len(all) != 0 || upTo != 0 {
			t.Errorf("at first: %v up to %d", all, upTo)
		}
		_, other := w.open()
		w.must(w.store.PublishActivity(t.Context(), "report.a", []byte("one"), time.Minute))
		w.must(other.PublishActivity(t.Context(), "report.b", []byte("two"), time.Minute))
		w.must(w.store.PublishActivity(t.Context(), "report.a", []byte("three"), time.Minute))
		w.must(w.store.PublishActivity(t.Context(), "hour.a.5", []byte("kept"), 24*time.Hour))
		all, upTo := w.told(0)
		if diff := cmp.Diff(map[string]string{"report.a": "three", "report.b": "two", "hour.a.5": "kept"}, all); diff != "" {
			t.Errorf("all (-want +got):\n%s", diff)
		}
		w.must(other.PublishActivity(t.Context(), "report.b", []byte("four"), time.Minute))
		later, upTo2 := w.told(upTo)
		if diff := cmp.Diff(map[string]string{"report.b": "four"}, later); diff != "" || upTo2 <= upTo {
			t.Errorf("what is new, up to %d after %d (-want +got):\n%s", upTo2, upTo, diff)
		}

		time.Sleep(2 * time.Minute)
		left, _ := w.told(0)
		if diff := cmp.Diff(map[string]string{"hour.a.5": "kept"}, left); diff != "" {
			t.Errorf("after two minutes (-want +got):\n%s", diff)
		}
	})
}

// TestPulseOfManyProcesses has more reports than one request returns.
func TestPulseOfManyProcesses(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		want := map[string]string{}
		for i := range 1200 {
			name := fmt.Sprintf("hour.%d.5", i)
			want[name] = "x"
			w.must(w.store.PublishActivity(t.Context(), name, []byte("x"), time.Hour))
		}
		if all, _ := w.told(0); !maps.Equal(all, want) {
			t.Errorf("%d were read", len(all))
		}
	})
}

// TestPulseStreamLost: Open recreates a missing stream, and a scheduler works without a usable one.
func TestPulseStreamLost(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const stream = "CARILLON_PULSE"
		w.must(w.js.DeleteStream(t.Context(), stream))
		_, later := w.open()
		w.must(later.PublishActivity(t.Context(), "report.a", []byte("one"), time.Minute))

		w.must(w.js.DeleteStream(t.Context(), stream))
		must.Get(w.js.CreateStream(t.Context(), jetstream.StreamConfig{
			Name: stream, Subjects: []string{"carillon.pulse.>"}, Storage: jetstream.MemoryStorage,
		}))(t)
		_, without := w.open()
		if err := without.PublishActivity(t.Context(), "report.a", []byte("one"), time.Minute); !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("told to a stream that keeps everything: %v", err)
		}
		if upTo, err := without.ReadActivity(t.Context(), 0, func(string, []byte) { t.Error("something was told") }); err != nil || upTo != 0 {
			t.Errorf("read up to %d, %v", upTo, err)
		}
		if shut, err := without.Check(t.Context()); err != nil || len(shut) > 0 {
			t.Errorf("the scheduler does not work: %v %v", shut, err)
		}
	})
}

// TestPulseOfEarlierVersion: Open raises the retention of a stream that keeps a day.
func TestPulseOfEarlierVersion(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const stream = "CARILLON_PULSE"
		of := func() jetstream.StreamConfig {
			return must.Get(w.js.Stream(t.Context(), stream))(t).CachedInfo().Config
		}
		have := of()
		month := have.MaxAge
		have.MaxAge = 25 * time.Hour
		must.Get(w.js.UpdateStream(t.Context(), have))(t)
		w.open()
		if of().MaxAge != month || month < 31*24*time.Hour {
			t.Errorf("it keeps reports for %v, first %v", of().MaxAge, month)
		}
	})
}

// TestPulseWithoutPermission: a scheduler works if its NATS user may not create the stream or publish to it.
func TestPulseWithoutPermission(t *testing.T) {
	s := storetest.Server(t, func(o *server.Options) {
		user := func(name string, deny ...string) *server.User {
			return &server.User{Username: name, Password: "x", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: deny},
			}}
		}
		o.Users = []*server.User{user("creates-not", "$JS.API.STREAM.CREATE.CARILLON_PULSE"), user("tells-not", "carillon.pulse.>"), user("all")}
	})
	for _, name := range []string{"creates-not", "all", "tells-not"} { // sequentially
		nc := connect(t, s, nats.UserInfo(name, "x"))
		st, err := open(t, nc, store.Config{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = st.PublishActivity(t.Context(), "report.a", []byte("x"), time.Minute)
		if name == "all" && err != nil || name != "all" && !errors.Is(err, scheduler.ErrUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
		if err := nc.LastError(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
