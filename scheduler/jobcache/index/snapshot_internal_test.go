package index

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// keeping is a store that keeps a snapshot.
type keeping struct {
	scheduler.Store

	data []byte
	err  error
}

func (*keeping) Lanes() int { return 2 }

func (s *keeping) SaveSnapshot(_ context.Context, _ time.Duration, write func(io.Writer) error) error {
	var b bytes.Buffer
	s.err = write(&b)
	s.data = b.Bytes()
	return s.err
}

func (s *keeping) LoadSnapshot(_ context.Context, read func(io.Reader) error) error {
	return read(bytes.NewReader(s.data))
}

// savable returns an index of jobs that share little, and have everything that a record can have.
func savable(jobs int) *Index {
	x, r := New(Config{Store: &keeping{}}), rand.New(rand.NewPCG(1, 2))
	x.ready, x.last, x.lanes = true, uint64(jobs), []uint64{7, 9}
	now := time.Now()
	for i := range jobs {
		s := &scheduler.Summary{
			State: states[1+r.IntN(len(states)-2)], Action: "http", Address: fmt.Sprintf("host-%d", r.IntN(jobs)), Updated: now.Add(-time.Hour),
			Incarnation: fmt.Sprintf("uid-%d", i), Triggered: r.IntN(4) == 0,
		}
		for n := range r.IntN(4) {
			s.Labels = append(s.Labels, scheduler.Label{Name: fmt.Sprintf("l%d", n), Value: fmt.Sprintf("v%d", r.IntN(jobs))})
		}
		if r.IntN(4) == 0 {
			s.PausedUntil = now.Add(time.Duration(1+r.IntN(4)) * time.Hour)
		}
		k := scheduler.Key{Collection: []string{"a", "b"}[i*2/jobs], Job: fmt.Sprintf("%s-%05d", []string{"job", "Job"}[r.IntN(2)], i)}
		j := x.put(k, uint64(i+1), s)
		j.at = -passedEvery.Milliseconds()
		if j.state == enabled {
			j.next = now.Add(time.Duration(r.IntN(100)) * time.Hour).UnixMilli()
			j.last, j.ended = now.Unix(), firstEnded+ended(r.IntN(len(scheduler.LastOutcomes)))
			x.mark(j, []flags{0, 0, 0, moved, unseen, moved | unseen}[r.IntN(6)])
		}
	}
	return x
}

// TestSnapshotIsWhatTheIndexKnew saves and loads an index, of which a job changes meanwhile.
func TestSnapshotIsWhatTheIndexKnew(t *testing.T) {
	const jobs = 3 * atOnce // some pages
	x := savable(jobs)
	store := x.cfg.Store.(*keeping)
	var open []key
	i := 0
	for r := range x.jobs.all() {
		i++
		switch i % 1000 {
		case 0:
			r.ended = nowhere
		case 1:
			x.note(r.full(), jobs+uint64(i))
			open = append(open, r.key)
		case 2:
			r.state = damaged
			open = append(open, r.key)
		}
	}
	x.save(t.Context(), t.Context().Err)
	y := New(Config{Store: store})
	noted := scheduler.Key{Collection: "a", Job: "noted"}
	y.note(noted, 2*jobs)
	changed1 := open[3]
	y.note(changed1.full(), 3*jobs)
	after, ok := y.load(t.Context())
	if !ok || after != jobs || y.lanes[0] != 7 || y.lanes[1] != 9 || y.jobs.count != jobs+1 || y.last != 3*jobs {
		t.Fatalf("loaded %t: %d jobs up to %d, lanes %v", ok, y.jobs.count, after, y.lanes)
	}
	for k, n := range x.pauses {
		if r := x.jobs.get(key{k.collection, open[0].name}); y.pauses[k] < n-len(open) || y.pauses[k] > n {
			t.Errorf("%d are paused until %d, want %d: %v", y.pauses[k], k.until, n, r)
		}
	}
	if r := y.get(noted); r == nil || r.flags&changed == 0 || r.revision != 2*jobs {
		t.Errorf("a job that was noted: %+v", r)
	}
	if r := y.jobs.get(changed1); r.flags&changed == 0 || r.revision != 3*jobs {
		t.Errorf("a job of the snapshot that was noted: %+v", r)
	}
	for _, k := range open {
		want := record{key: k, revision: 1, flags: changed | moved | unseen}
		r := y.jobs.get(k)
		_, dirty := y.dirty[k]
		if got := *r; k != changed1 && (!dirty || got.flags != want.flags || got.revision != want.revision || got.state != unknown) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		x.jobs.remove(k)
		y.jobs.remove(k)
	}
	y.jobs.remove(keyOf(noted))
	for r := range x.jobs.all() {
		got, want := *y.jobs.get(r.key), *r
		if want.ended == nowhere {
			want.ended = untold
		}
		got.at, want.at, want.loaded = 0, 0, true
		if _, dirty := y.dirty[r.key]; got != want || dirty != (want.flags != 0) {
			t.Fatalf("%+v, dirty %t, want %+v", got, dirty, want)
		}
	}
	t.Logf("%d bytes for a job", len(store.data)/jobs)
}

// TestSnapshotIsBeforeTheBacklog saves an index with many changes that it has not read: the load reads these in bulk.
func TestSnapshotIsBeforeTheBacklog(t *testing.T) {
	x := savable(100)
	x.note(scheduler.Key{Collection: "a", Job: "new"}, 101)
	x.note(scheduler.Key{Collection: "a", Job: "newer"}, 102)
	x.save(t.Context(), t.Context().Err)
	y := New(Config{Store: x.cfg.Store})
	if after, ok := y.load(t.Context()); after != 100 || !ok {
		t.Errorf("up to %d, %t", after, ok)
	}
}

// known is a store with some jobs.
type known struct {
	scheduler.Store

	jobs    []scheduler.Key
	deleted scheduler.Key
}

func (s known) EachKnownJob(_ context.Context, f func(k scheduler.Key, deleted bool) error) error {
	for _, k := range s.jobs {
		if err := f(k, false); err != nil {
			return err
		}
	}
	return f(s.deleted, true)
}

// TestSnapshotIsComparedWithTheStore loads a snapshot after the store has lost a job without a marker, and has one that the
// snapshot lacks: both are read again, and no other.
func TestSnapshotIsComparedWithTheStore(t *testing.T) {
	x := savable(100)
	for r := range x.jobs.all() {
		x.mark(r, 0)
	}
	x.save(t.Context(), t.Context().Err)
	y := New(Config{Store: x.cfg.Store})
	if _, ok := y.load(t.Context()); !ok {
		t.Fatal("not loaded")
	}
	unknown := scheduler.Key{Collection: "a", Job: "unknown"}
	store := known{jobs: []scheduler.Key{unknown}, deleted: scheduler.Key{Collection: "a", Job: "deleted"}}
	var lost scheduler.Key
	for r := range x.jobs.all() {
		if lost == (scheduler.Key{}) {
			lost = r.full()
		} else {
			store.jobs = append(store.jobs, r.full())
		}
	}
	y.cfg.Store = store
	if err := y.confirm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := y.outdatedKeys(); len(got) != 2 || !slices.Contains(got, lost) || !slices.Contains(got, unknown) {
		t.Errorf("read again: %v, want %v and %v", got, lost, unknown)
	}
	if r := y.get(lost); r.flags&changed == 0 {
		t.Errorf("the definition of the lost job is not read again: %+v", r)
	}
}

// TestDamagedSnapshotIsRefused cuts a snapshot anywhere, changes any byte, and reads it as one of another store.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	x := savable(50)
	x.save(t.Context(), t.Context().Err)
	data := x.cfg.Store.(*keeping).data
	refused := func(what string, data []byte) {
		t.Helper()
		y := New(Config{Store: &keeping{data: data}})
		if _, ok := y.load(t.Context()); ok || y.jobs.count > 0 {
			t.Errorf("%s is valid", what)
		}
	}
	for n := range data {
		refused(fmt.Sprintf("%d of %d bytes", n, len(data)), data[:n])
		flipped := bytes.Clone(data)
		flipped[n] ^= 1 << (n % 8)
		y := New(Config{Store: &keeping{data: flipped}})
		if _, ok := y.load(t.Context()); ok { // the flags of a frame may say the same in two ways
			y.last, y.ready = 50, true
			y.save(t.Context(), t.Context().Err)
			if !slices.Equal(rowsOf(t, y), rowsOf(t, x)) {
				t.Errorf("with another byte %d, it is valid", n)
			}
		}
	}
	x.lanes = []uint64{1}
	x.save(t.Context(), t.Context().Err)
	refused("a snapshot of another number of lanes", x.cfg.Store.(*keeping).data)
}

func rowsOf(tb testing.TB, x *Index) (all []string) {
	tb.Helper()
	for r := range x.jobs.all() {
		all = append(all, fmt.Sprint(r.full(), r.labels.Value(), r.does.Value(), r.revision, r.next, r.last, r.paused, r.state, r.ended, r.flags))
	}
	return all
}

// TestInvalidRowsAreRefused unpacks pages with values that no snapshot has.
func TestInvalidRowsAreRefused(t *testing.T) {
	valid := page{
		Groups: []group{{Collection: "a"}},
		Rows:   []row{{Name: "x", Revision: 5, State: uint8(enabled)}, {Name: "y", Revision: 5, State: uint8(enabled)}},
	}
	if !valid.unpack(&sorted{}, 0) {
		t.Fatal("a valid page")
	}
	for name, change := range map[string]func(*row){
		"group": func(r *row) { r.Group = 1 }, "far group": func(r *row) { r.Group = 1 << 31 },
		"no state": func(r *row) { r.State = 0 }, "state": func(r *row) { r.State = 6 }, "ended": func(r *row) { r.Ended = 200 },
		"the same name": func(r *row) { r.Name = "x" }, "changed": func(r *row) { r.Flags = uint8(changed) },
	} {
		p := valid
		p.Rows = slices.Clone(valid.Rows)
		change(&p.Rows[1])
		if p.unpack(&sorted{}, 0) {
			t.Errorf("%s: it is valid", name)
		}
	}
}

// FuzzSnapshot loads anything: the rows are in order, and complete.
func FuzzSnapshot(f *testing.F) {
	x := savable(20)
	x.save(f.Context(), f.Context().Err)
	f.Add(x.cfg.Store.(*keeping).data)
	f.Fuzz(func(t *testing.T, data []byte) {
		y := New(Config{Store: &keeping{data: data}})
		if _, ok := y.load(t.Context()); ok {
			y.search(&scheduler.JobQuery{Text: "x"})
			y.Rank(&scheduler.JobQuery{Text: "x"}, nil, false, 10, false)
			rowsOf(t, y)
		}
	})
}

// BenchmarkSnapshot saves and loads a million jobs.
func BenchmarkSnapshot(b *testing.B) {
	x := rankedIndex(1_000_000)
	store := &keeping{}
	x.cfg.Store, x.ready, x.last, x.lanes = store, true, 1_000_000, []uint64{7, 9}
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			x.save(b.Context(), b.Context().Err)
		}
		b.ReportMetric(float64(len(store.data))/1_000_000, "bytes/job")
	})
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			y := New(Config{Store: store})
			if _, ok := y.load(b.Context()); !ok {
				b.Fatal("it is damaged")
			}
		}
	})
}
