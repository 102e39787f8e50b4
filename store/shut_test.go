package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// TestCheckChangesNothing checks a healthy store with a job, batons, records and specs, one of them held.
func TestCheckChangesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		must.Get(w.store.SaveJob(t.Context(), job, []byte("{}"), 0, false))(t)
		w.must(w.store.ScheduleAt(t.Context(), own, []byte("baton"), time.Now().Add(time.Hour), 0))
		w.must(w.store.Append(t.Context(), &scheduler.Record{Job: job, Outcome: scheduler.OutcomeCompleted, Nominal: time.Now()}))
		for range 3 {
			must.Get(w.js.Publish(t.Context(), "carillon.spec.put.c.job", []byte("{}")))(t)
		}
		consumer := must.Get(w.js.Consumer(t.Context(), "CARILLON_SPECS", "workers"))(t)
		spec := must.Get(consumer.Next(jetstream.FetchMaxWait(time.Minute)))(t)

		var streams []string
		names := w.js.StreamNames(t.Context())
		for name := range names.Name() {
			streams = append(streams, name)
		}
		w.must(names.Err())
		count := func() (all []uint64) {
			for _, name := range streams {
				all = append(all, w.messages(name))
			}
			return all
		}
		first := must.Get(w.store.Check(t.Context()))(t)
		before := count()
		for range 3 {
			shut, err := w.store.Check(t.Context())
			if err != nil || len(shut) > 0 || len(first) > 0 {
				t.Fatalf("got %v, %v, before %v", shut, err, first)
			}
		}
		for i, after := range count() {
			if after != before[i] {
				t.Errorf("%s: %d messages, and %d before", streams[i], after, before[i])
			}
		}
		info := must.Get(consumer.Info(t.Context()))(t)
		if info.NumAckPending != 1 || info.NumPending != 2 {
			t.Errorf("specs: %d under way and %d waiting, of 1 and 2", info.NumAckPending, info.NumPending)
		}
		w.must(spec.Ack())
		if _, err := consumer.Next(jetstream.FetchMaxWait(time.Minute)); err != nil {
			t.Error(err)
		}
		if _, err := w.store.Waiting(t.Context(), own); err != nil {
			t.Error(err)
		}
	})
}

// TestCheckWithoutJetStream checks a store whose server has disabled JetStream, as it does when it cannot write.
func TestCheckWithoutJetStream(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.server.ShutdownJetStream())
		shut := must.Get(w.store.Check(t.Context()))(t)
		if len(shut) < 8 || shut[0].Reported || shut[0].Reason == "" || !strings.Contains(shut[0].String(), shut[0].Stream) {
			t.Errorf("got %v", shut)
		}
	})
}

// TestCheckWithoutConnection checks a store whose server is down.
func TestCheckWithoutConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.server.Shutdown()
		w.server.WaitForShutdown()
		_, err := w.store.Check(t.Context())
		mustBe(t, "check", err, scheduler.ErrUnavailable)
	})
}

// TestCheckFindsShutStream removes the directory of a stream, so that a write fails, and restores it: the stream stays
// read-only, and the others work.
func TestCheckFindsShutStream(t *testing.T) {
	dir := t.TempDir()
	s := storetest.Server(t, func(o *server.Options) { o.StoreDir = dir })
	nc := connect(t, s)
	st := must.Get(store.Open(t.Context(), nc, store.Config{Lanes: 2}))(t)
	msgs := filepath.Join(dir, "jetstream", "$G", "streams", "CARILLON_TIMERS_1", "msgs")
	must.Do(t, os.Rename(msgs, msgs+".away"))
	must.Do(t, os.WriteFile(msgs, nil, 0o600))
	large := make([]byte, 900<<10)
	var err error
	for i := 0; i < 100 && err == nil; i++ { // more than one file of the stream, so that it needs another
		slot := scheduler.BatonKey{Key: scheduler.Key{Collection: "c", Job: "job" + strconv.Itoa(i)}}
		if st.Lane(slot.Key) == 1 {
			err = st.ScheduleAt(t.Context(), slot, large, time.Now().Add(time.Hour), 0)
		}
	}
	mustBe(t, "arming", err, scheduler.ErrUnavailable)
	must.Do(t, errors.Join(os.Remove(msgs), os.Rename(msgs+".away", msgs)))
	shut, err := st.Check(t.Context())
	if err != nil || len(shut) != 1 || shut[0].Stream != "CARILLON_TIMERS_1" || !shut[0].Reported || !strings.Contains(shut[0].Reason, "not a directory") {
		t.Errorf("got %v, %v", shut, err)
	}
	select {
	case <-st.Suspicions():
	default:
		t.Error("there is no suspicion")
	}
}

// TestCheckIsForbidden checks a store whose NATS user may not purge some streams: these are skipped and not reported.
func TestCheckIsForbidden(t *testing.T) {
	s := storetest.Server(t, denied("$JS.API.STREAM.PURGE.KV_carillon-jobs"))
	st := must.Get(open(t, connect(t, s, nats.UserInfo("weak", "x")), store.Config{}))(t)
	for range 2 {
		if shut, err := st.Check(t.Context()); err != nil || len(shut) > 0 {
			t.Errorf("got %v, %v", shut, err)
		}
	}
}

// TestCheckHoldsUpNoSpec releases a spec, like a stopping process, and checks the store before another process requests
// it: it is delivered immediately.
func TestCheckHoldsUpNoSpec(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.publish("put.c.job", "{}")
		consumer := must.Get(w.js.Consumer(t.Context(), "CARILLON_SPECS", "workers"))(t)
		spec := must.Get(consumer.Next(jetstream.FetchMaxWait(time.Minute)))(t)
		w.must(spec.Nak())
		time.Sleep(time.Second)
		must.Get(w.store.Check(t.Context()))(t)
		began := time.Now()
		must.Get(consumer.Next(jetstream.FetchMaxWait(time.Minute)))(t)
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("it is delivered after %s", waited)
		}
	})
}

// TestCheckFindsLostConsumer deletes the consumer of a lane: the stream accepts writes but delivers no batons.
func TestCheckFindsLostConsumer(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		w.must(w.js.DeleteConsumer(t.Context(), "CARILLON_TIMERS_0", "workers"))
		shut := must.Get(w.store.Check(t.Context()))(t)
		const want = "no process receives due batons in stream CARILLON_TIMERS_0: its consumer workers is gone; " +
			`restart a scheduler, which makes it again; "carillon docs recover" lists the losses`
		if len(shut) != 1 || !shut[0].Idle || shut.Explain(false) != want {
			t.Errorf("got %v", shut)
		}
	})
}
