package history

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/storetest"
)

// TestMain runs the tests.
func TestMain(m *testing.M) { storetest.Main(m) }

// TestBackwardsOnASlowServer finds the only message of a filter in a stream of 10,000,000, of which the server reads 1,000 in
// a millisecond. It searches the same range at most twice.
func TestBackwardsOnASlowServer(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		nc := storetest.Connect(t, storetest.Server(t))
		const only, end = 5, 10_000_000
		began := time.Now()
		must.Get(nc.Subscribe("$JS.API.DIRECT.GET.S", func(m *nats.Msg) {
			var get conn.DirectRequest
			must.Do(t, json.Unmarshal(m.Data, &get))
			took := time.Duration(end-get.From) * time.Microsecond
			if get.From <= only {
				took = time.Duration(only-get.From) * time.Microsecond
			}
			time.Sleep(took)
			if get.From <= only {
				must.Do(t, nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{
					jetstream.SubjectHeader: {"x"}, jetstream.SequenceHeader: {strconv.Itoa(only)},
					jetstream.TimeStampHeaer: {time.Now().Format(time.RFC3339Nano)},
				}}))
			}
			must.Do(t, nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": {"204"}, "Nats-Num-Pending": {"0"}}}))
		}))(t)
		c := &cursor{conn: &conn.Conn{NC: nc, Replicas: 1}, stream: "S", filter: "x", first: 1, end: end, width: firstWidth}
		m := must.Get(c.head(t.Context()))(t)
		if took := time.Since(began); m == nil || m.Sequence != only || took > 2*end*time.Microsecond {
			t.Errorf("%+v after %s", m, took)
		}
	})
}

// TestScanFromHeads reads a history from the last records of a job on, of which the asked replica lacks two: each record is
// passed once, newest first, until one is enough.
func TestScanFromHeads(t *testing.T) {
	storetest.Test(t, func(t *testing.T) {
		nc := storetest.Connect(t, storetest.Server(t))
		c := must.Get(conn.New(nc, conn.Config{HistoryAge: time.Hour, Storage: jetstream.MemoryStorage}))(t)
		must.Do(t, c.Open(t.Context()))
		s, k := New(c), scheduler.Key{Collection: "default", Job: "a"}
		must.Do(t, s.Open(t.Context()))
		record := func(sequence uint64, outcome scheduler.Outcome) *scheduler.Record {
			return &scheduler.Record{Sequence: sequence, Job: k, Outcome: outcome, Ended: time.Now()}
		}
		for _, outcome := range []scheduler.Outcome{scheduler.OutcomeSkipped, scheduler.OutcomeCompleted, scheduler.OutcomeCompleted} {
			must.Do(t, s.Append(t.Context(), record(0, outcome)))
		}
		for enough, want := range map[int][]uint64{9: {5, 4, 3, 2, 1}, 1: {5}, 2: {5, 4}, 3: {5, 4, 3}, 5: {5, 4, 3, 2, 1}} {
			heads := []*scheduler.Record{
				record(3, scheduler.OutcomeCompleted), record(4, scheduler.OutcomeFailed), record(5, scheduler.OutcomeFaulted),
				record(1, scheduler.OutcomeSkipped),
			}
			var got []uint64
			must.Do(t, s.scanFrom(t.Context(), k, heads, scheduler.Outcomes, func(r *scheduler.Record) bool {
				got = append(got, r.Sequence)
				return len(got) < enough
			}))
			if !slices.Equal(got, want) {
				t.Errorf("up to %d: %d, want %d", enough, got, want)
			}
		}
	})
}
