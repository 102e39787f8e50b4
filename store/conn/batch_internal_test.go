package conn

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/storetest"
)

// history is a batched stream of records on its own server.
type history struct {
	t       *testing.T
	nc      *nats.Conn
	conn    *Conn
	stream  jetstream.Stream
	records *Batcher
}

// withHistory runs f in a bubble with a store whose server syncs every write if always is set.
func withHistory(t *testing.T, always bool, f func(t *testing.T, h *history)) {
	t.Helper()
	storetest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Second) }) // last: the server's file writers end shortly after the server
		nc := startServer(t, func(o *server.Options) { o.JetStream, o.StoreDir, o.SyncAlways = true, t.TempDir(), always })()
		js := must.Get(jetstream.New(nc))(t)
		for { // the JetStream API answers shortly after the server is ready
			if _, err := js.AccountInfo(t.Context()); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		f(t, openHistory(t, nc, always))
	})
}

// openHistory opens the history on a connection.
func openHistory(t *testing.T, nc *nats.Conn, always bool) *history {
	t.Helper()
	c := must.Get(New(nc, Config{SyncAlways: always}))(t)
	must.Do(t, c.Open(t.Context()))
	st, b, err := c.Batched(t.Context(), jetstream.StreamConfig{
		Name: "CARILLON_HISTORY", Subjects: []string{"carillon.history.>"}, AllowDirect: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &history{t: t, nc: nc, conn: c, stream: st, records: b}
}

// append appends a record.
func (h *history) append(ctx context.Context, r *scheduler.Record) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return h.records.Append(ctx, "carillon.history."+r.Job.Collection+"."+r.Job.Job+"."+string(r.Outcome), data)
}

// change updates the history stream.
func (h *history) change(f func(*jetstream.StreamConfig)) {
	h.t.Helper()
	cfg := h.stream.CachedInfo().Config
	f(&cfg)
	must.Get(h.conn.JS.UpdateStream(h.t.Context(), cfg))(h.t)
}

// record returns the record of job n with a message of length long.
func record(n, long int) *scheduler.Record {
	k := scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", n)}
	return &scheduler.Record{Job: k, Outcome: scheduler.OutcomeCompleted, Nominal: time.Now(), Message: strings.Repeat("x", long)}
}

// times returns how often each job is in the history.
func (h *history) times() map[string]uint64 {
	h.t.Helper()
	info := must.Get(h.stream.Info(h.t.Context(), jetstream.WithSubjectFilter("carillon.history.>")))(h.t)
	times := map[string]uint64{}
	for subject, n := range info.State.Subjects {
		times[strings.Split(subject, ".")[3]] = n
	}
	return times
}

// group appends records as one group, in order, and returns their results.
func (h *history) group(ctx context.Context, records ...*scheduler.Record) []error {
	b, errs := h.records, make([]error, len(records))
	b.mu.Lock()
	b.grouped = true // so that they wait
	b.mu.Unlock()
	var all sync.WaitGroup
	for i, r := range records {
		all.Go(func() { errs[i] = h.append(ctx, r) })
		synctest.Wait()
	}
	b.next(func() { b.grouped = false })
	all.Wait()
	return errs
}

// TestRecordsTogether: concurrent records are each stored once, with a fraction of the acknowledgements.
func TestRecordsTogether(t *testing.T) {
	withHistory(t, true, func(t *testing.T, h *history) {
		const callers, each = 200, 10
		before := h.nc.Stats().InMsgs
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for n := range each {
					if err := h.append(t.Context(), record(i*each+n, 10)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if heard := h.nc.Stats().InMsgs - before; heard > callers*each/2 {
			t.Errorf("%d acknowledgements for %d records", heard, callers*each)
		}
		times := h.times()
		for i := range callers * each {
			if n := times[fmt.Sprintf("j%d", i)]; n != 1 {
				t.Errorf("record %d is stored %d times", i, n)
			}
		}
	})
}

// TestLoneRecord: a single record does not wait for others.
func TestLoneRecord(t *testing.T) {
	withHistory(t, true, func(t *testing.T, h *history) {
		for n := range 5 {
			before, began := h.nc.Stats().InMsgs, time.Now()
			must.Do(t, h.append(t.Context(), record(n, 10)))
			if heard := h.nc.Stats().InMsgs - before; heard != 1 {
				t.Errorf("%d messages are heard", heard)
			}
			if took := time.Since(began); took > time.Millisecond {
				t.Errorf("it takes %s", took)
			}
		}
	})
}

// TestRefusedAmongOthers: a refused record does not affect the others in its group, at any position.
func TestRefusedAmongOthers(t *testing.T) {
	const many = 20
	for _, bad := range []int{0, 1, many / 2, many - 1} {
		t.Run(strconv.Itoa(bad), func(t *testing.T) {
			withHistory(t, true, func(t *testing.T, h *history) {
				h.change(func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1000 })
				records := make([]*scheduler.Record, many)
				for i := range records {
					records[i] = record(i, 10)
				}
				records[bad] = record(bad, 2000)
				began := time.Now()
				for i, err := range h.group(t.Context(), records...) {
					api, refused := errors.AsType[*jetstream.APIError](err)
					if refused != (i == bad) || (err == nil) == refused || refused && api.ErrorCode != 10054 {
						t.Errorf("record %d: %v", i, err)
					}
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("it takes %s", took)
				}
				times := h.times()
				for i := range records {
					if n := times[fmt.Sprintf("j%d", i)]; (n == 1) != (i != bad) || n > 1 {
						t.Errorf("record %d is stored %d times", i, n)
					}
				}
				for i, err := range h.group(t.Context(), record(100, 1), record(101, 1), record(102, 1), record(103, 1)) {
					if err != nil {
						t.Errorf("the next group, record %d: %v", i, err)
					}
				}
			})
		})
	}
}

// TestStreamWithoutBatches: records are stored individually if the stream does not allow batches, such as the stream of
// an earlier server, even if the store notices only later.
func TestStreamWithoutBatches(t *testing.T) {
	withHistory(t, true, func(t *testing.T, h *history) {
		h.change(func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false })
		var records []*scheduler.Record
		for i := range 50 {
			records = append(records, record(i, 10))
		}
		for i, err := range h.group(t.Context(), records...) {
			if err != nil {
				t.Errorf("record %d: %v", i, err)
			}
		}
		times := h.times()
		for i := range records {
			if n := times[fmt.Sprintf("j%d", i)]; n != 1 {
				t.Errorf("record %d is stored %d times", i, n)
			}
		}
		if h.records.together {
			t.Error("batches are tried again")
		}
		if !openHistory(t, h.nc, true).records.together {
			t.Error("the stream is not brought up to batches at the next start")
		}
	})
}

// TestRecordsApart: without SyncAlways, records are sent individually, even if the stream allows batches.
func TestRecordsApart(t *testing.T) {
	withHistory(t, false, func(t *testing.T, h *history) {
		if h.stream.CachedInfo().Config.AllowAtomicPublish {
			t.Error("the stream takes batches")
		}
		h.change(func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = true })
		if openHistory(t, h.nc, false).records.together {
			t.Error("messages are sent together")
		}
	})
}

// TestGroupInDoubt: a group without an acknowledgement is reported as failed, and the next messages are sent.
func TestGroupInDoubt(t *testing.T) {
	lost := map[string]func(h *history){
		"the connection is lost": func(h *history) {
			if err := h.nc.ForceReconnect(); err != nil {
				h.t.Error(err)
			}
		},
		"no answer comes": func(*history) {},
	}
	for name, lose := range lost {
		t.Run(name, func(t *testing.T) {
			withHistory(t, true, func(t *testing.T, h *history) {
				h.change(func(c *jetstream.StreamConfig) { c.Subjects = []string{"elsewhere.>"} })
				deaf := must.Get(h.nc.SubscribeSync("carillon.history.>"))(t) // so that a subscriber exists
				var all sync.WaitGroup
				all.Go(func() {
					for i, err := range h.group(t.Context(), record(1, 1), record(2, 1), record(3, 1), record(4, 1),
						record(5, 1), record(6, 1), record(7, 1), record(8, 1)) {
						if !errors.Is(err, scheduler.ErrUnavailable) {
							t.Errorf("record %d: %v", i, err)
						}
					}
				})
				time.Sleep(time.Second)
				lose(h)
				behind := make(chan error, 1)
				all.Go(func() { behind <- h.append(t.Context(), record(9, 1)) })
				time.Sleep(2 * time.Second)
				must.Do(t, deaf.Unsubscribe())
				h.change(func(c *jetstream.StreamConfig) { c.Subjects = []string{"carillon.history.>"} })
				all.Wait()
				if err := <-behind; err != nil && !errors.Is(err, scheduler.ErrUnavailable) {
					t.Errorf("behind it: %v", err)
				}
				if err := h.append(t.Context(), record(10, 1)); err != nil {
					t.Errorf("after it: %v", err)
				}
			})
		})
	}
}

// TestRecordGivenUp: a record whose context ends while it waits is not sent; the others are.
func TestRecordGivenUp(t *testing.T) {
	withHistory(t, true, func(t *testing.T, h *history) {
		b := h.records
		b.grouped = true // so that they wait
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if err := h.append(ctx, record(0, 1)); err != cause { //nolint:errorlint // as it is
				t.Errorf("got %v", err)
			}
		})
		for i := range 8 {
			all.Go(func() {
				if err := h.append(t.Context(), record(i+1, 1)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel(cause)
		synctest.Wait()
		b.next(func() { b.grouped = false })
		all.Wait()
		if times := h.times(); len(times) != 8 || times["j0"] != 0 {
			t.Errorf("stored: %v", times)
		}
	})
}

// TestManyWithoutBatches has more records than a group wait when the stream refuses batches.
func TestManyWithoutBatches(t *testing.T) {
	withHistory(t, true, func(t *testing.T, h *history) {
		h.change(func(c *jetstream.StreamConfig) { c.AllowAtomicPublish = false })
		records := make([]*scheduler.Record, 2*groupMost+10)
		for i := range records {
			records[i] = record(i, 10)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := errors.Join(h.group(ctx, records...)...); err != nil {
			t.Error(err)
		}
	})
}
