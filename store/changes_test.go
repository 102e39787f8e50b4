package store_test

import (
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

// watched lists the buckets that announce changes.
var watched = []string{"jobs", "collections", "secrets"}

// tells turns the announcements of a bucket on or off.
func tells(t *testing.T, js jetstream.JetStream, bucket string, does bool) {
	t.Helper()
	st := must.Get(js.Stream(t.Context(), "KV_carillon-"+bucket))(t)
	cfg := st.CachedInfo().Config
	cfg.RePublish = nil
	if does {
		cfg.RePublish = &jetstream.RePublish{
			Source: "$KV.carillon-" + bucket + ".>", Destination: "carillon.changed." + bucket + ".>", HeadersOnly: true,
		}
	}
	must.Get(js.UpdateStream(t.Context(), cfg))(t)
}

// watchOf watches a bucket until the test ends. It returns the watch's result channel once the watch is active.
func watchOf(t *testing.T, s *store.Store, bucket string, changed func(name string)) <-chan error {
	t.Helper()
	ready, ended := make(chan struct{}), make(chan error, 1)
	stands := func() { close(ready) }
	value := func(name string, _ uint64, _ []byte) { changed(name) }
	go func() {
		switch bucket {
		case "jobs":
			ended <- s.WatchJobs(t.Context(), stands, func(k scheduler.Key, _ uint64) { changed(k.Job) })
		case "collections":
			ended <- s.Collections().Watch(t.Context(), stands, value)
		default:
			ended <- s.Secrets().Watch(t.Context(), stands, value)
		}
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the watch does not stand: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("the watch does not stand")
	}
	return ended
}

// write creates a value.
func write(t *testing.T, s *store.Store, bucket, name string) {
	t.Helper()
	var err error
	switch bucket {
	case "jobs":
		_, err = s.SaveJob(t.Context(), scheduler.Key{Collection: "c", Job: name}, []byte("{}"), 0, false)
	case "collections":
		_, err = s.Collections().Save(t.Context(), name, []byte("{}"), 0)
	default:
		_, err = s.Secrets().Save(t.Context(), name, []byte("{}"), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inWatched runs f for each watched bucket of a store.
func inWatched(t *testing.T, f func(t *testing.T, w *harness, bucket string)) {
	t.Helper()
	for _, bucket := range watched {
		t.Run(bucket, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *harness) { f(t, w, bucket) })
		})
	}
}

// TestMissedChangeEndsWatch suppresses the announcement of one change, but not of the next: the watch ends immediately.
func TestMissedChangeEndsWatch(t *testing.T) {
	inWatched(t, func(t *testing.T, w *harness, bucket string) {
		ended := watchOf(t, w.store, bucket, func(name string) { t.Errorf("told of %s", name) })
		time.Sleep(time.Minute) // it has queried the last change, and none is missing
		began := time.Now()
		tells(t, w.js, bucket, false)
		write(t, w.store, bucket, "untold")
		tells(t, w.js, bucket, true)
		write(t, w.store, bucket, "next")
		mustBe(t, "the watch", <-ended, scheduler.ErrUnavailable)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
}

// TestMissedLastChangeEndsWatch suppresses the announcement of the last change.
func TestMissedLastChangeEndsWatch(t *testing.T) {
	inWatched(t, func(t *testing.T, w *harness, bucket string) {
		heard := make(chan string, 10)
		ended := watchOf(t, w.store, bucket, func(name string) { heard <- name })
		write(t, w.store, bucket, "told")
		if got := <-heard; got != "told" {
			t.Errorf("told of %s", got)
		}
		time.Sleep(time.Minute)
		tells(t, w.js, bucket, false)
		write(t, w.store, bucket, "untold")
		mustEnd(t, ended, 15*time.Second, scheduler.ErrUnavailable)
	})
}

// TestAnotherBucketEndsWatch deletes and recreates a watched bucket.
func TestAnotherBucketEndsWatch(t *testing.T) {
	inWatched(t, func(t *testing.T, w *harness, bucket string) {
		time.Sleep(time.Minute)
		ended := watchOf(t, w.store, bucket, func(string) {})
		st := must.Get(w.js.Stream(t.Context(), "KV_carillon-"+bucket))(t)
		w.must(w.js.DeleteStream(t.Context(), st.CachedInfo().Config.Name))
		must.Get(w.js.CreateStream(t.Context(), st.CachedInfo().Config))(t)
		mustEnd(t, ended, 15*time.Second, scheduler.ErrUnavailable)
	})
}

// TestUntoldChangesAreWatched watches buckets whose announcements the NATS user cannot receive or enable.
func TestUntoldChangesAreWatched(t *testing.T) {
	update := func(bucket string) string { return "$JS.API.STREAM.UPDATE.KV_carillon-" + bucket }
	for name, may := range map[string]*server.Permissions{
		"may not hear": {Subscribe: &server.SubjectPermission{Deny: []string{"carillon.changed.>"}}},
		"may not have told": {Publish: &server.SubjectPermission{
			Deny: []string{update("jobs"), update("collections"), update("secrets")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Server(t, func(o *server.Options) {
				o.Users = []*server.User{{Username: "strong", Password: "x"}, {Username: "weak", Password: "x", Permissions: may}}
			})
			strong := connect(t, s, nats.UserInfo("strong", "x"))
			other := must.Get(open(t, strong, store.Config{}))(t)
			js := must.Get(jetstream.New(strong))(t)
			for _, bucket := range watched {
				tells(t, js, bucket, false)
			}
			weak := must.Get(open(t, connect(t, s, nats.UserInfo("weak", "x")), store.Config{}))(t)
			for _, bucket := range watched {
				heard := make(chan string, 1)
				watchOf(t, weak, bucket, func(name string) { heard <- name })
				write(t, other, bucket, "new")
				select {
				case <-heard:
				case <-time.After(30 * time.Second):
					t.Errorf("%s: told of nothing", bucket)
				}
			}
		})
	}
}

// TestWatchEndsWithoutServer queries the last change while the server is down.
func TestWatchEndsWithoutServer(t *testing.T) {
	inWatched(t, func(t *testing.T, w *harness, bucket string) {
		ended := watchOf(t, w.store, bucket, func(string) {})
		w.server.Shutdown()
		w.server.WaitForShutdown()
		mustEnd(t, ended, time.Minute, scheduler.ErrUnavailable)
	})
}
