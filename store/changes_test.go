package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/storetest"
)

// watched are the buckets whose changes are told.
var watched = []string{"jobs", "collections", "secrets"}

// tells lets a bucket announce its changes, or not.
func tells(t *testing.T, js jetstream.JetStream, bucket string, does bool) {
	t.Helper()
	st, err := js.Stream(t.Context(), "KV_carillon-"+bucket)
	if err != nil {
		t.Fatal(err)
	}
	cfg := st.CachedInfo().Config
	cfg.RePublish = nil
	if does {
		cfg.RePublish = &jetstream.RePublish{
			Source: "$KV.carillon-" + bucket + ".>", Destination: "carillon.changed." + bucket + ".>", HeadersOnly: true,
		}
	}
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// watchOf watches a bucket until the test ends, and returns what the watch ends with, once it stands.
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

// write writes a new value.
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
func inWatched(t *testing.T, f func(t *testing.T, w *world, bucket string)) {
	t.Helper()
	for _, bucket := range watched {
		t.Run(bucket, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world) { f(t, w, bucket) })
		})
	}
}

// TestMissedChangeEndsWatch lets a change go untold, and tells the next one: the watch ends at once.
func TestMissedChangeEndsWatch(t *testing.T) {
	inWatched(t, func(t *testing.T, w *world, bucket string) {
		ended := watchOf(t, w.store, bucket, func(name string) { t.Errorf("told of %s", name) })
		time.Sleep(time.Minute) // it asked for the last change, and nothing is missing
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

// TestMissedLastChangeEndsWatch lets a change go untold that nothing follows.
func TestMissedLastChangeEndsWatch(t *testing.T) {
	inWatched(t, func(t *testing.T, w *world, bucket string) {
		heard := make(chan string, 10)
		ended := watchOf(t, w.store, bucket, func(name string) { heard <- name })
		write(t, w.store, bucket, "told")
		if got := <-heard; got != "told" {
			t.Errorf("told of %s", got)
		}
		time.Sleep(time.Minute)
		tells(t, w.js, bucket, false)
		write(t, w.store, bucket, "untold")
		select {
		case err := <-ended:
			mustBe(t, "the watch", err, scheduler.ErrUnavailable)
		case <-time.After(15 * time.Second):
			t.Error("the watch goes on")
		}
	})
}

// TestAnotherBucketEndsWatch removes a bucket under a watch, and makes it again.
func TestAnotherBucketEndsWatch(t *testing.T) {
	inWatched(t, func(t *testing.T, w *world, bucket string) {
		time.Sleep(time.Minute)
		ended := watchOf(t, w.store, bucket, func(string) {})
		st, err := w.js.Stream(t.Context(), "KV_carillon-"+bucket)
		w.must(err)
		w.must(w.js.DeleteStream(t.Context(), st.CachedInfo().Config.Name))
		_, err = w.js.CreateStream(t.Context(), st.CachedInfo().Config)
		w.must(err)
		select {
		case err := <-ended:
			mustBe(t, "the watch", err, scheduler.ErrUnavailable)
		case <-time.After(15 * time.Second):
			t.Error("the watch goes on")
		}
	})
}

// TestUntoldChangesAreWatched watches buckets whose changes the NATS user cannot hear, or may not have told.
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
			other, err := open(t, strong, store.Config{})
			if err != nil {
				t.Fatal(err)
			}
			js, err := jetstream.New(strong)
			if err != nil {
				t.Fatal(err)
			}
			for _, bucket := range watched {
				tells(t, js, bucket, false)
			}
			weak, err := open(t, connect(t, s, nats.UserInfo("weak", "x")), store.Config{})
			if err != nil {
				t.Fatal(err)
			}
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

// TestWatchEndsWithoutServer asks for the last change while the server is gone.
func TestWatchEndsWithoutServer(t *testing.T) {
	inWatched(t, func(t *testing.T, w *world, bucket string) {
		ended := watchOf(t, w.store, bucket, func(string) {})
		w.server.Shutdown()
		w.server.WaitForShutdown()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		select {
		case err := <-ended:
			mustBe(t, "the watch", err, scheduler.ErrUnavailable)
		case <-ctx.Done():
			t.Error("the watch goes on")
		}
	})
}
