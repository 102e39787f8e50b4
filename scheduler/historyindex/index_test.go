package historyindex_test

import (
	"fmt"
	"math/rand/v2"
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
	perJob  int
}

// add stores a record of a random kind, and drops the oldest of its job and outcome if there are too many.
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
	same := func(o *scheduler.Record) bool { return o.Job == r.Job && o.Outcome == r.Outcome }
	n := 0
	for _, o := range h.records[:min(len(h.records), len(h.records)*h.perJob)] { // none without a bound
		if same(o) {
			n++
		}
	}
	if h.perJob > 0 && n > h.perJob {
		i := slices.IndexFunc(h.records, same)
		h.records = slices.Delete(h.records, i, i+1)
	}
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

// find takes the pages of a query that begin before a sequence, which may have records that are not wanted, as times are told
// by the second.
func find(t *testing.T, x *historyindex.Index, q *historyindex.Query, before uint64, size int) (all []*scheduler.Record) {
	t.Helper()
	for {
		records, done, err := x.Search(q, before, size)
		if err != nil || len(records) > size || !done && len(records) < size {
			t.Fatalf("a page of %d of %d, %v, %v", len(records), size, done, err)
		}
		for _, r := range records {
			if r.Sequence >= before {
				t.Fatalf("%d is not before %d", r.Sequence, before)
			}
			before = r.Sequence
			if wants(q, r) {
				all = append(all, r)
			}
		}
		if done {
			return all
		}
	}
}

// TestSearchAgreesWithTheHistory builds random histories, whose records are dropped as jobs have too many and as they get old,
// and finds in the index what a look at each of them finds, whole and in order, in pages of any size.
func TestSearchAgreesWithTheHistory(t *testing.T) {
	for seed := range uint64(12) {
		h := &history{random: rand.New(rand.NewPCG(seed, 1)), perJob: []int{0, 1, 7, 40}[seed%4]}
		x := historyindex.New(1, 1<<30, int64(h.perJob))
		for range 12 {
			for range h.random.IntN(200) + 1 {
				if err := x.Append(h.add()); err != nil {
					t.Fatal(err)
				}
			}
			if h.random.IntN(2) == 0 {
				x.Drop(h.drop())
			}
			if from, to := x.Span(); from > h.records[0].Sequence || to != h.last+1 {
				t.Fatalf("seed %d: it has %d to %d of %d to %d", seed, from, to, h.records[0].Sequence, h.last)
			}
			for range 8 {
				q, before := h.query(), h.random.Uint64N(h.last+2)+1
				var want []*scheduler.Record
				for _, r := range slices.Backward(h.records) {
					if r.Sequence < before && wants(&q, r) {
						want = append(want, r)
					}
				}
				got := find(t, x, &q, before, h.random.IntN(50)+1)
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
	x := historyindex.New(1, 64<<10, 0)
	for range 20_000 {
		if err := x.Append(h.add()); err != nil {
			t.Fatal(err)
		}
	}
	from, to := x.Span()
	got := find(t, x, &historyindex.Query{}, to, 100)
	i := slices.IndexFunc(h.records, func(r *scheduler.Record) bool { return r.Sequence >= from })
	if len(got) != len(h.records)-i || len(got) < 200 || len(got) > 2000 || got[len(got)-1].Sequence < from {
		t.Errorf("it has %d of %d records, from %d on", len(got), len(h.records), from)
	}
}

// TestFits: an index is given up when the store keeps another number of records, when it was emptied or has begun anew, and
// when most of its rows are of records that are gone; and not before.
func TestFits(t *testing.T) {
	x := historyindex.New(1, 1<<30, 2)
	at := func(last, records uint64, perJob int64) scheduler.HistorySpan {
		return scheduler.HistorySpan{First: 1, Last: last, Records: records, PerJob: perJob}
	}
	r := &scheduler.Record{Job: scheduler.Key{Collection: "c", Job: "j"}, Outcome: scheduler.OutcomeCompleted, Ended: began}
	for r.Sequence = 1; r.Sequence <= 60_000; r.Sequence++ {
		if err := x.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		span scheduler.HistorySpan
		want bool
	}{
		"as it is":              {at(60_000, 2, 2), true},
		"more was recorded":     {at(70_000, 2, 2), true},
		"the store keeps more":  {at(60_000, 2, 3), false},
		"the store began again": {at(59_998, 2, 2), false},
	} {
		if got := x.Fits(test.span); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for ; r.Sequence <= 70_000; r.Sequence++ {
		if err := x.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if x.Fits(at(70_000, 2, 2)) {
		t.Error("70,000 rows are kept for 2 records")
	}
}

// TestAppendAgain: a record that it has is left out.
func TestAppendAgain(t *testing.T) {
	x := historyindex.New(5, 1<<30, 0)
	for _, n := range []uint64{7, 7, 6, 9, 7} {
		if err := x.Append(&scheduler.Record{Sequence: n, Ended: began}); err != nil {
			t.Fatal(err)
		}
	}
	if got := find(t, x, &historyindex.Query{}, 10, 9); len(got) != 2 {
		t.Errorf("it has %d", len(got))
	}
	if from, to := x.Span(); from != 5 || to != 10 {
		t.Errorf("it has %d to %d", from, to)
	}
}
