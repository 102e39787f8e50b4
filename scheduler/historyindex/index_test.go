package historyindex_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/historyindex"
)

// began is when the histories of these tests begin.
var began = time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)

// history is what a store keeps, told the plain way.
type history struct {
	random  *rand.Rand
	records []*scheduler.Record // the oldest first
	last    uint64
}

// add stores a record of a random kind.
func (h *history) add() *scheduler.Record {
	pick := func(n int) int { return int(float64(n) * h.random.Float64() * h.random.Float64()) } // the first ones often
	h.last += 1 + uint64(pick(3))                                                                // others were never stored, or are gone
	at := began.Add(time.Duration(h.last) * time.Minute)
	r := &scheduler.Record{
		Sequence: h.last, Stored: at, Job: scheduler.Key{Collection: "c" + strconv.Itoa(pick(4)), Job: "j" + strconv.Itoa(pick(6))},
		Outcome: scheduler.Outcomes[pick(len(scheduler.Outcomes))], Ended: at, UID: "01234567", Message: "record " + strconv.Itoa(int(h.last)),
	}
	switch h.random.IntN(9) {
	case 0: // no attempt
	case 1:
		stand := scheduler.DamagedRecord(r.Outcome, at, fmt.Errorf("torn %d", h.last))
		stand.Job, stand.Sequence, stand.Stored = r.Job, r.Sequence, at
		r = stand
	default:
		r.Started, r.Target, r.Type = at.Add(-time.Duration(pick(30))*time.Minute), "host"+strconv.Itoa(pick(5))+":443", "Http"
		r.Duration = at.Sub(r.Started)
		r.Kind = []scheduler.Kind{scheduler.Planned, scheduler.Manual}[pick(2)]
		r.Phase = []scheduler.Phase{scheduler.MainPhase, scheduler.ErrorPhase}[pick(2)]
	}
	h.records = append(h.records, r)
	return r
}

// drop drops the records before one of the first tenth, which have become too old.
func (h *history) drop() (first uint64) {
	i := h.random.IntN(len(h.records)/10 + 1)
	h.records = slices.Delete(h.records, 0, i)
	return h.records[0].Sequence
}

// query asks for something.
func (h *history) query() (q historyindex.Query) {
	yes := h.random.IntN(2) == 0
	maybe := func() bool { return h.random.IntN(3) == 0 }
	at := func() time.Time { return began.Add(time.Duration(h.random.Uint64N(h.last+1)) * time.Minute) }
	if maybe() {
		q.Key.Collection = "c" + strconv.Itoa(h.random.IntN(5))
		if maybe() {
			q.Key.Job = "j" + strconv.Itoa(h.random.IntN(6))
		}
	}
	if maybe() {
		q.Outcomes = scheduler.Outcomes[h.random.IntN(3):][:2]
	}
	if maybe() {
		q.Targets = []string{"host" + strconv.Itoa(h.random.IntN(5))}
	}
	if maybe() {
		q.Manual = &yes
	}
	if maybe() {
		q.Phases = []scheduler.Phase{scheduler.ErrorPhase}
	}
	switch h.random.IntN(6) {
	case 0:
		q.Since = at()
	case 1:
		q.Until = at()
	case 2:
		q.EndedSince, q.Until = at(), at()
	case 3:
		q.EndedUntil = at()
	case 4:
		q.Sees = func(collection string) bool { return collection != "c0" }
	}
	return q
}

// wants reports whether a query asks for a record.
func wants(q *historyindex.Query, r *scheduler.Record) bool {
	return (q.Key.Collection == "" || r.Job.Collection == q.Key.Collection) && (q.Key.Job == "" || r.Job.Job == q.Key.Job) &&
		(q.Sees == nil || q.Sees(r.Job.Collection)) && q.Admits(r, r.UID, true)
}

// find takes the pages of a query that begin before a sequence. They may have records that are not wanted, as times are told by
// the second.
func (h *history) find(t *testing.T, x *historyindex.Index, q *historyindex.Query, before uint64, size int) (all []uint64) {
	t.Helper()
	stored := map[uint64]*scheduler.Record{}
	for _, r := range h.records {
		stored[r.Sequence] = r
	}
	for {
		sequences, done := x.Search(q, before, size)
		if len(sequences) > size || !done && len(sequences) < size {
			t.Fatalf("a page of %d of %d, %v", len(sequences), size, done)
		}
		for _, n := range sequences {
			if n >= before || stored[n] == nil {
				t.Fatalf("%d is not before %d, or not there", n, before)
			}
			before = n
			if wants(q, stored[n]) {
				all = append(all, n)
			}
		}
		if done {
			return all
		}
	}
}

// TestSearchAgreesWithTheHistory builds random histories, whose records are dropped as they get old, and finds in the index what
// a look at each of them finds, in order, in pages of any size.
func TestSearchAgreesWithTheHistory(t *testing.T) {
	for seed := range uint64(12) {
		h := &history{random: rand.New(rand.NewPCG(seed, 1))}
		x := historyindex.New(1, 1<<30)
		for range 12 {
			for range h.random.IntN(200) + 1 {
				x.Append(h.add())
			}
			if h.random.IntN(2) == 0 {
				x.Drop(h.drop())
			}
			if from, to := x.Span(); from > h.records[0].Sequence || to != h.last+1 {
				t.Fatalf("seed %d: it has %d to %d of %d to %d", seed, from, to, h.records[0].Sequence, h.last)
			}
			for range 8 {
				q, before := h.query(), h.random.Uint64N(h.last+2)+1
				var want []uint64
				for _, r := range slices.Backward(h.records) {
					if r.Sequence < before && wants(&q, r) {
						want = append(want, r.Sequence)
					}
				}
				got := h.find(t, x, &q, before, h.random.IntN(50)+1)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("seed %d: %+v before %d (-want +got)\n%s", seed, q, before, diff)
				}
			}
		}
	}
}

// TestMemoryIsBounded: the oldest records are dropped, and the range begins after them.
func TestMemoryIsBounded(t *testing.T) {
	h := &history{random: rand.New(rand.NewPCG(1, 1))}
	x := historyindex.New(1, 64<<10)
	for range 20_000 {
		x.Append(h.add())
	}
	from, to := x.Span()
	got := h.find(t, x, &historyindex.Query{}, to, 100)
	i := slices.IndexFunc(h.records, func(r *scheduler.Record) bool { return r.Sequence >= from })
	if len(got) != len(h.records)-i || len(got) < 200 || len(got) > 2000 || got[len(got)-1] < from {
		t.Errorf("it has %d of %d records, from %d on", len(got), len(h.records), from)
	}
}

// TestMemoryOfNamesIsBounded: the names of one-shots, of which each has one record, count, and are dropped with their rows.
func TestMemoryOfNamesIsBounded(t *testing.T) {
	const most = 1 << 20
	x := historyindex.New(1, most)
	var before, after runtime.MemStats
	runtime.GC() //nolint:revive // what is live is measured
	runtime.ReadMemStats(&before)
	for n := range uint64(100_000) {
		k := scheduler.Key{Collection: "c", Job: strconv.FormatUint(n, 10)}
		x.Append(&scheduler.Record{Sequence: n + 1, Job: k, Outcome: scheduler.OutcomeCompleted, Ended: began})
	}
	runtime.GC() //nolint:revive // as above
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 3*most {
		t.Errorf("it uses %d bytes, the limit is %d", used, most)
	}
	if from, to := x.Span(); to-from < 1000 || to-from > most/100 {
		t.Errorf("it has the records from %d to %d", from, to)
	}
	runtime.KeepAlive(x)
}

// TestFits: an index is given up when the store has begun anew, and when most of its rows are of records that are gone; and not
// before.
func TestFits(t *testing.T) {
	x := historyindex.New(1, 1<<30)
	at := func(last, records uint64) scheduler.HistorySpan {
		return scheduler.HistorySpan{First: 1, Last: last, Records: records}
	}
	r := &scheduler.Record{Job: scheduler.Key{Collection: "c", Job: "j"}, Outcome: scheduler.OutcomeCompleted, Ended: began}
	for r.Sequence = 1; r.Sequence <= 60_000; r.Sequence++ {
		x.Append(r)
	}
	for name, test := range map[string]struct {
		span scheduler.HistorySpan
		want bool
	}{
		"as it is":              {at(60_000, 2), true},
		"more was recorded":     {at(70_000, 2), true},
		"the store began again": {at(59_998, 2), false},
	} {
		if got := x.Fits(test.span); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for ; r.Sequence <= 70_000; r.Sequence++ {
		x.Append(r)
	}
	if x.Fits(at(70_000, 2)) {
		t.Error("70,000 rows are kept for 2 records")
	}
}

// TestAppendAgain: a record that it has is left out.
func TestAppendAgain(t *testing.T) {
	x := historyindex.New(5, 1<<30)
	for _, n := range []uint64{7, 7, 6, 9, 7} {
		x.Append(&scheduler.Record{Sequence: n, Ended: began})
	}
	if got, _ := x.Search(&historyindex.Query{}, 10, 9); len(got) != 2 {
		t.Errorf("it has %d", len(got))
	}
	if from, to := x.Span(); from != 5 || to != 10 {
		t.Errorf("it has %d to %d", from, to)
	}
}
