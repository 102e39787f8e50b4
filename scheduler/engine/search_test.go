package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/control"
	"github.com/carillon-sched/carillon/store/storetest"
)

// watched is a store that counts what searches ask of it, and whose watch of definitions can be lost.
type watched struct {
	scheduler.Store

	mu      sync.Mutex
	scans   int           // listings of all names
	read    int           // definitions that were looked up
	holding chan struct{} // the reading of all definitions waits for it; nil: it does not
	lose    context.CancelFunc

	threshold int    // from which on the index reads in turn; 0: the default
	bulk      int    // readings in turn
	amid      func() // is called once in the next one

	builds    int // readings of all definitions
	snapshots int // loaded

	watches int // of definitions
	loads   int // of one definition
	tails   int // consumers of the history
}

func (s *watched) Follow(ctx context.Context, k scheduler.Key, after uint64, f func(*scheduler.Record)) error {
	s.mu.Lock()
	s.tails++
	s.mu.Unlock()
	return s.Store.Follow(ctx, k, after, f)
}

func (s *watched) LoadJob(ctx context.Context, k scheduler.Key) (scheduler.Stored, error) {
	s.mu.Lock()
	s.loads++
	s.mu.Unlock()
	return s.Store.LoadJob(ctx, k)
}

func (s *watched) EachJob(ctx context.Context, collection string, f func(scheduler.Key) error) error {
	s.mu.Lock()
	s.scans++
	s.mu.Unlock()
	return s.Store.EachJob(ctx, collection, f)
}

func (s *watched) LoadJobs(ctx context.Context, keys []scheduler.Key, each func(scheduler.Stored)) error {
	s.mu.Lock()
	s.read += len(keys)
	s.mu.Unlock()
	return s.Store.LoadJobs(ctx, keys, each)
}

func (s *watched) EachStoredJob(ctx context.Context, f func(scheduler.Stored) error) error {
	s.mu.Lock()
	s.builds++
	holding := s.holding
	s.mu.Unlock()
	return s.Store.EachStoredJob(ctx, func(st scheduler.Stored) error {
		if holding != nil {
			<-holding
		}
		return f(st)
	})
}

// LoadSnapshot is counted if it loads one.
func (s *watched) LoadSnapshot(ctx context.Context, read func(io.Reader) error) error {
	err := s.Store.LoadSnapshot(ctx, read)
	if err == nil {
		s.mu.Lock()
		s.snapshots++
		s.mu.Unlock()
	}
	return err
}

// loaded counts the loaded snapshots and the readings of all definitions.
func (s *watched) loaded() (snapshots, builds int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshots, s.builds
}

var errLost = fmt.Errorf("%w: the watch is lost", scheduler.ErrUnavailable)

func (s *watched) WatchJobs(ctx context.Context, ready func(), changed func(scheduler.Key, uint64)) error {
	watching, lose := context.WithCancel(ctx)
	defer lose()
	s.mu.Lock()
	s.lose = lose
	s.watches++
	s.mu.Unlock()
	if err := s.Store.WatchJobs(watching, ready, changed); err != nil || ctx.Err() != nil {
		return err
	}
	return errLost
}

// counted returns what was counted since it was called last.
func (s *watched) counted() (scans, read int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	scans, read = s.scans, s.read
	s.scans, s.read = 0, 0
	return scans, read
}

// searcher is a service on a watched store.
type searcher struct {
	*control.Service

	store *watched
	stop  func() // ends it, as a graceful shutdown does
}

// newSearcher runs a service, as a process does, that has an index.
func (w *harness) newSearcher(change ...func(*watched)) *searcher {
	s := &searcher{store: &watched{Store: w.store}}
	for _, f := range change {
		f(s.store)
	}
	s.Service = control.New(control.Config{
		Store: s.store, Actions: w.actions(), Limits: scheduler.Limits{MinRetryInterval: time.Second}, Secrets: w.vault,
		IndexBulk: s.store.threshold,
	})
	s.stop = storetest.Run(w.t, s.Run)
	return s
}

// awaitIndex waits until the service searches by its index.
func (w *harness) awaitIndex(s *searcher) {
	w.t.Helper()
	for range 1000 {
		s.store.counted()
		w.must(s.Search(w.t.Context(), scheduler.JobQuery{}, v1.Page{Top: 1}))
		if scans, _ := s.store.counted(); scans == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatal("the index is not built")
}

// found returns the names of all jobs that a query finds, page by page.
func (w *harness) found(s *control.Service, q scheduler.JobQuery, p v1.Page) string {
	w.t.Helper()
	var names []string
	for range 1000 {
		views, next, err := s.Search(w.t.Context(), q, p)
		w.must(err)
		for _, v := range views {
			names = append(names, v.Job.Key.String())
		}
		if next == nil {
			return strings.Join(names, " ")
		}
		p = *next
	}
	w.t.Fatal("the list has no end")
	return ""
}

// selector reads one.
func selector(t *testing.T, text string) scheduler.Selector {
	t.Helper()
	return must.Get(scheduler.ParseSelector(text))(t)
}

// queries are searches of every kind.
func queries(t *testing.T, now time.Time) map[string]scheduler.JobQuery {
	t.Helper()
	one := []string{"ops"}
	return map[string]scheduler.JobQuery{
		"all":                     {},
		"one collection":          {Collections: one},
		"some collections":        {Collections: []string{"default", "ops", "nowhere"}},
		"prefix":                  {Prefix: "b"},
		"prefix of one":           {Prefix: "b1", Collections: one},
		"enabled":                 {State: scheduler.Enabled},
		"disabled":                {State: scheduler.Disabled},
		"completed":               {State: scheduler.Completed},
		"faulted in one":          {State: scheduler.Faulted, Collections: one},
		"damaged":                 {State: scheduler.Damaged},
		"labelled":                {Labels: selector(t, "team=red")},
		"labelled otherwise":      {Labels: selector(t, "team!=red,!env")},
		"labelled and disabled":   {Labels: selector(t, "team in (red, blue)"), State: scheduler.Disabled},
		"soon":                    {Before: now.Add(10 * time.Second)},
		"late":                    {From: now.Add(10 * time.Second)},
		"between":                 {From: now.Add(2 * time.Second), Before: now.Add(time.Minute), Collections: one},
		"soon, labelled, enabled": {Before: now.Add(time.Minute), Labels: selector(t, "team"), State: scheduler.Enabled},
		"of a type":               {Action: "http", Prefix: "a"},
		"of a type that none has": {Action: "Locked"},
	}
}

// searchDocs are jobs that live in different ways.
var searchDocs = []string{
	`{%s, ACTION}`,
	`{%s, ACTION, "recurrence": {"frequency": "Second", "interval": 7}}`,
	`{%s, ACTION, "recurrence": {"frequency": "Minute"}}`,
	`{%s, ACTION, "recurrence": {"frequency": "Hour", "count": 2}}`,
	`{%s, ACTION, "startTime": "2000-01-03T00:00:00Z"}`,
	`{%s, FAILS}`,
	`{%s, FAILS, "recurrence": {"frequency": "Second", "interval": 20, "count": 3}}`,
	`{%s, ACTION, "state": "disabled", "recurrence": {"frequency": "Day"}}`,
}

func searchDoc(r *rand.Rand) string {
	labels := []string{``, `"team": "red"`, `"team": "blue"`, `"team": "red", "env": "prod"`}[r.IntN(4)]
	doc := fmt.Sprintf(searchDocs[r.IntN(len(searchDocs))], `"labels": {`+labels+`}`)
	const to = `"action": {"type": "Http", "request": {"uri": "http://%s.example", "method": "GET"}, "retryPolicy": {"retryType": "none"}}`
	return strings.NewReplacer("ACTION", fmt.Sprintf(to, "fine"), "FAILS", fmt.Sprintf(to, "fails")).Replace(doc)
}

// TestIndexAgreesWithScan lets jobs live at random, under edits by a process with an index and by another one, while its watch is
// lost now and then: whatever is searched for, the index finds what a look at all jobs finds.
func TestIndexAgreesWithScan(t *testing.T) {
	seeds, least := uint64(2), 100
	if bubble.RaceDetector {
		seeds, least = 1, 60
	}
	for name, a := range map[string]agreement{
		"looked up": {
			seeds: seeds, least: least, moves: 12, lost: 7, unwatched: []time.Duration{0},
			waits: []time.Duration{0, 50 * time.Millisecond, time.Second, 9 * time.Second, 90 * time.Second, 6 * time.Minute},
		},
		"in bulk": {
			threshold: 1, seeds: 1, least: 40, inBulk: 5, moves: 20, unwatched: []time.Duration{62 * time.Second},
			waits: []time.Duration{time.Second, 9 * time.Second, 9 * time.Second},
		},
		"restarted": {
			seeds: 1, least: least, moves: 12, lost: 7, restarts: 2, unwatched: []time.Duration{0},
			waits: []time.Duration{0, 50 * time.Millisecond, time.Second, 9 * time.Second, 90 * time.Second, 6 * time.Minute, 40 * time.Minute},
		},
		"restarted, in bulk": {
			threshold: 1, seeds: 1, least: 40, moves: 20, restarts: 3, unwatched: []time.Duration{0, 62 * time.Second},
			waits: []time.Duration{0, time.Second, 9 * time.Second, 70 * time.Minute},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range a.seeds {
				inBubble(t, func(_ *testing.T, w *harness) { w.mustAgree(a, seed) })
			}
		})
	}
}

// searchMove does something to a job.
func (w *harness) searchMove(r *rand.Rand, indexed *searcher) {
	w.t.Helper()
	ctx := w.t.Context()
	k := scheduler.Key{Collection: []string{"default", "ops"}[r.IntN(2)], Job: fmt.Sprintf("%c%02d", 'a'+rune(r.IntN(3)), r.IntN(15))}
	by := w.service
	if r.IntN(2) == 0 {
		by = indexed.Service
	}
	var err error
	switch r.IntN(10) {
	default:
		_, _, err = by.Put(ctx, control.Edit{Key: k, Body: []byte(searchDoc(r))})
	case 0:
		_, err = by.Patch(ctx, control.Edit{Key: k, Body: []byte(`{"labels": {"team": "blue", "env": null}}`)})
	case 1:
		_, err = by.Disable(ctx, k)
	case 2:
		_, err = by.Enable(ctx, k)
	case 3:
		err = by.Delete(ctx, k, 0)
	case 4:
		_, err = indexed.Trigger(ctx, k) // of one that another process runs by hand, the index does not know
	}
	if err != nil && !errors.Is(err, scheduler.ErrNotFound) && !errors.Is(err, scheduler.ErrConflict) {
		w.t.Fatal(err)
	}
}

// compare searches with an index and without, at a moment in which nothing moves, and counts the searches.
func (w *harness) compare(when string, indexed *searcher, r *rand.Rand) (compared int) {
	w.t.Helper()
	all := queries(w.t, time.Now())
	names := slices.Sorted(maps.Keys(all))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:5] {
		q, p := all[name], v1.Page{Top: []int{0, 3, 7}[r.IntN(3)], Skip: r.IntN(2) * r.IntN(5)}
		for range 20 {
			before := w.found(w.service, q, p)
			got := w.found(indexed.Service, q, p)
			if want := w.found(w.service, q, p); want != before {
				time.Sleep(10 * time.Millisecond)
				continue // something moved
			} else if got != want {
				w.t.Errorf("%s, %s, page %+v:\nthe index finds  %s\na scan finds     %s", when, name, p, got, want)
			}
			compared++
			break
		}
	}
	return compared
}

// TestSearchWhileIndexIsBuilt searches while the index reads all jobs: the answer is the same.
func TestSearchWhileIndexIsBuilt(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		for i := range 20 {
			w.put(fmt.Sprintf("j%02d", i), fmt.Sprintf(`{"startTime": "2000-02-01T00:00:00Z", "labels": {"n": "%d"}, %s}`, i%3, action))
		}
		build := make(chan struct{})
		s := w.newSearcher(func(st *watched) { st.holding = build })
		time.Sleep(time.Minute)
		q := scheduler.JobQuery{Labels: selector(t, "n=1")}
		const want = "default/j01 default/j04 default/j07 default/j10 default/j13 default/j16 default/j19"
		if got := w.found(s.Service, q, v1.Page{Top: 2}); got != want {
			t.Errorf("while it is built: %s, want %s", got, want)
		}
		if scans, _ := s.store.counted(); scans != 4 {
			t.Errorf("%d scans for 4 pages while it is built", scans)
		}
		w.put("j03", `{"startTime": "2000-02-01T00:00:00Z", "labels": {"n": "1"}, `+action+`}`)
		close(build)
		w.awaitIndex(s)
		if got := w.found(s.Service, q, v1.Page{Top: 2}); got != strings.Replace(want, "default/j04", "default/j03 default/j04", 1) {
			t.Errorf("afterwards: %s", got)
		}
		if scans, _ := s.store.counted(); scans != 0 {
			t.Errorf("%d scans afterwards", scans)
		}
	})
}

// TestPageReadsFewDefinitions searches for a few among many: a page reads not many more definitions than it shows, however many
// there are, and whatever part of the list it is.
func TestPageReadsFewDefinitions(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const jobs = 300
		for i := range jobs {
			labels, start := `{}`, "2000-03-01T00:00:00Z"
			if i%50 == 49 {
				labels, start = `{"rare": "yes"}`, "2000-02-01T00:00:00Z"
			}
			w.put(fmt.Sprintf("j%04d", i), `{"startTime": "`+start+`", "labels": `+labels+`, `+action+`}`)
		}
		s := w.newSearcher()
		w.awaitIndex(s)
		time.Sleep(10 * time.Minute) // until what was put just now is believed to stay as it is
		const rare = "default/j0049 default/j0099 default/j0149 default/j0199 default/j0249 default/j0299"
		from := time.Date(2000, 1, 15, 0, 0, 0, 0, time.UTC)
		for _, test := range []struct {
			name string
			q    scheduler.JobQuery
			p    v1.Page
			want string // of the whole list; "" for any
			most int    // definitions that its first page may read
		}{
			{"a page of all", scheduler.JobQuery{}, v1.Page{}, "", 101},
			{"the third page", scheduler.JobQuery{Collections: []string{"default"}}, v1.Page{After: "j0099", Top: 100}, "", 101},
			{"a short page", scheduler.JobQuery{}, v1.Page{Top: 5}, "", 6},
			{"after many", scheduler.JobQuery{}, v1.Page{Skip: 290}, "", 10},
			{"by label", scheduler.JobQuery{Labels: selector(t, "rare")}, v1.Page{}, rare, 6},
			{"by label, the last ones", scheduler.JobQuery{Labels: selector(t, "rare")}, v1.Page{Skip: 4}, strings.Join(strings.Fields(rare)[4:], " "), 2},
			{"by label, after many", scheduler.JobQuery{Labels: selector(t, "!rare")}, v1.Page{Skip: 290}, "", 4},
			{"by state, after many", scheduler.JobQuery{State: scheduler.Enabled}, v1.Page{Skip: 290}, "", 10},
			{"by time, after many", scheduler.JobQuery{From: from.AddDate(0, 1, 0)}, v1.Page{Skip: 290}, "", 4},
			{"by time", scheduler.JobQuery{From: from, Before: from.AddDate(0, 1, 0)}, v1.Page{}, rare, 6},
			{"by prefix", scheduler.JobQuery{Prefix: "j029", Labels: selector(t, "rare")}, v1.Page{}, "default/j0299", 1},
			{"by state", scheduler.JobQuery{State: scheduler.Completed}, v1.Page{}, " ", 0},
		} {
			s.store.counted()
			w.must(s.Search(t.Context(), test.q, test.p))
			if scans, read := s.store.counted(); scans > 0 || read > test.most {
				t.Errorf("%s: %d scans, and %d definitions read, more than %d", test.name, scans, read, test.most)
			}
			if got := w.found(s.Service, test.q, test.p); test.want != "" && got != strings.TrimSpace(test.want) {
				t.Errorf("%s: got %s, want %s", test.name, got, test.want)
			}
		}
	})
}

// TestPagesWhileJobsComeAndGo goes through a list while jobs are put and deleted before and behind the place where it is: none that
// stays is left out, or shown twice.
func TestPagesWhileJobsComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		doc := `{"startTime": "2000-02-01T00:00:00Z", "labels": {"stays": "yes"}, ` + action + `}`
		var want []string
		for i := range 30 {
			name := fmt.Sprintf("j%02d", i)
			w.put(name, doc)
			if i%3 != 0 {
				want = append(want, "default/"+name)
			}
		}
		s := w.newSearcher()
		w.awaitIndex(s)
		r := rand.New(rand.NewPCG(7, 7))
		var got []string
		for p := (&v1.Page{Top: 4}); p != nil; {
			views, next, err := s.Search(t.Context(), scheduler.JobQuery{Labels: selector(t, "stays")}, *p)
			w.must(err)
			for _, v := range views {
				got = append(got, v.Job.Key.String())
			}
			p = next
			for range 5 {
				k := key(fmt.Sprintf("j%02d", 3*r.IntN(10)))
				if err := w.service.Delete(t.Context(), k, 0); errors.Is(err, scheduler.ErrNotFound) {
					w.put(k.Job, doc)
				}
			}
		}
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("not in order, or twice: %v", got)
		}
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s is left out of %v", name, got)
			}
		}
	})
}

// agreement is how an index is compared with a look at all jobs.
type agreement struct {
	threshold int // from which on the index reads in bulk; 0: the default
	seeds     uint64
	least     int // comparisons
	inBulk    int // readings in bulk, at least
	moves     int
	unwatched []time.Duration // before the moves of a round: a minute after a search, the index reads when the moves are done
	waits     []time.Duration // after them
	lost      int             // the watch is lost in one round of so many; 0: never
	restarts  int             // the process restarts in one round of so many; 0: never
}

// mustAgree compares until it was often enough.
func (w *harness) mustAgree(a agreement, seed uint64) {
	w.t.Helper()
	w.sink.answers(func(c *call) (int, string) {
		if strings.Contains(c.host, "fails") {
			return http.StatusBadRequest, ""
		}
		return http.StatusOK, ""
	})
	r := rand.New(rand.NewPCG(seed, 13))
	w.must(w.service.PutCollection(w.t.Context(), "ops", nil))
	indexed := w.newSearcher(func(st *watched) { st.threshold = a.threshold })
	w.awaitIndex(indexed)
	compared, snapshots, builds := 0, 0, 0
	enough := func() bool { return compared >= a.least && indexed.store.inBulk() >= a.inBulk }
	for round := 0; round < a.least/4 || !enough() && round < 240; round++ {
		time.Sleep(a.unwatched[r.IntN(len(a.unwatched))])
		restart := a.restarts > 0 && round%a.restarts == a.restarts-1
		for range r.IntN(a.moves) {
			w.searchMove(r, indexed)
		}
		if restart {
			time.Sleep(a.waits[r.IntN(len(a.waits))])
			indexed.stop()
			for range r.IntN(a.moves) {
				w.searchMove(r, indexed)
			}
		}
		time.Sleep(a.waits[r.IntN(len(a.waits))])
		if restart {
			s, b := indexed.store.loaded()
			snapshots, builds = snapshots+s, builds+b
			indexed = w.newSearcher(func(st *watched) { st.threshold = a.threshold })
			w.awaitIndex(indexed)
		}
		if a.lost > 0 && round%a.lost == a.lost-1 {
			indexed.store.mu.Lock()
			indexed.store.lose()
			indexed.store.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		compared += w.compare(fmt.Sprintf("seed %d, round %d", seed, round), indexed, r)
		if w.t.Failed() {
			return
		}
	}
	w.awaitIndex(indexed)
	if !enough() {
		w.t.Errorf("only %d searches were compared, with %d readings in bulk", compared, indexed.store.inBulk())
	}
	if a.restarts > 0 && (snapshots == 0 || builds == 0) {
		w.t.Errorf("%d snapshots were loaded, and %d indexes built", snapshots, builds)
	}
	w.t.Logf("%d searches were compared, with %d readings in bulk", compared, indexed.store.inBulk())
}
