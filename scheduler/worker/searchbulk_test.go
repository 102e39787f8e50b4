package worker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// EachJobFrom is counted, and can be held after its first definition.
func (s *watched) EachJobFrom(ctx context.Context, from uint64, f func(scheduler.Stored, bool) error) error {
	s.mu.Lock()
	s.bulk++
	amid := s.amid
	s.amid = nil
	s.mu.Unlock()
	return s.Store.EachJobFrom(ctx, from, func(st scheduler.Stored, deleted bool) error {
		if amid != nil {
			amid()
			amid = nil
		}
		return f(st, deleted)
	})
}

// inBulk counts the readings of what was changed.
func (s *watched) inBulk() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bulk
}

// labelled is a document of a job of a team.
func labelled(team string) string {
	return fmt.Sprintf(`{"startTime": "2001-02-01T00:00:00Z", "labels": {"team": %q}, %s}`, team, action)
}

// TestBulkIsReadInTurn puts, changes and deletes many jobs, also while the index reads what has changed: it reads them as they lie in
// the store, looks few of them up, and finds what a look at all jobs finds.
func TestBulkIsReadInTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		const jobs = 400
		name := func(i int) string { return fmt.Sprintf("j%03d", i) }
		for i := range 40 {
			w.put(name(i), labelled("old"))
		}
		s := w.newSearcher(func(st *watched) { st.threshold = 8 })
		w.awaitIndex(s)
		time.Sleep(2 * time.Minute) // nobody searches any more: changes are read when there are no others
		s.store.counted()
		remove := func(i int) {
			if err := w.service.Delete(t.Context(), scheduler.Key{Collection: "default", Job: name(i)}, 0); err != nil {
				t.Error(err)
			}
		}
		s.store.mu.Lock()
		s.store.amid = func() { // the reading has begun, and others come and go
			for i := range 20 {
				w.put(name(i), labelled("amid"))
				remove(100 + i)
			}
			w.put(name(jobs), labelled("amid"))
			remove(200)
			w.put(name(200), labelled("again"))
		}
		s.store.mu.Unlock()
		for i := 20; i < jobs; i++ {
			w.put(name(i), labelled("new"))
		}
		for i := 300; i < 340; i++ {
			remove(i)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if _, read := s.store.counted(); s.store.inBulk() < 2 || read > jobs/4 {
			t.Errorf("%d readings in turn, %d definitions were looked up", s.store.inBulk(), read)
		}
		for _, team := range []string{"old", "new", "amid", "again"} {
			q := scheduler.JobQuery{Labels: selector(t, "team="+team)}
			got, want := w.found(s.Service, q, view.Page{}), w.found(w.service, q, view.Page{})
			if got != want {
				t.Errorf("team %s:\nthe index finds  %s\na scan finds     %s", team, got, want)
			}
			if team == "amid" && strings.Count(got, "default/") != 21 {
				t.Errorf("amid are %s", got)
			}
		}
		s.store.counted()
		page, err := s.Browse(t.Context(), scheduler.JobQuery{Before: time.Date(2001, 3, 1, 0, 0, 0, 0, time.UTC)}, "", false, 50)
		if err != nil || page.Count != jobs+1-60 || page.Unread != 0 {
			t.Errorf("%+v, %v", page, err)
		}
		if _, read := s.store.counted(); read > 60 {
			t.Errorf("%d definitions were looked up for a page of 50", read)
		}
		if far := s.IndexProgress(); far != (service.IndexProgress{Percent: 100}) {
			t.Errorf("in the end, %+v", far)
		}
	})
}

// TestBulkAfterRestart loses the watch while the index reads what has changed: it is built again, and knows everything.
func TestBulkAfterRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		s := w.newSearcher(func(st *watched) { st.threshold = 8 })
		w.awaitIndex(s)
		time.Sleep(2 * time.Minute)
		s.store.mu.Lock()
		s.store.amid = func() {
			s.store.mu.Lock()
			lose := s.store.lose
			s.store.mu.Unlock()
			lose()
			for i := range 10 {
				w.put(fmt.Sprintf("k%02d", i), labelled("new"))
			}
		}
		s.store.mu.Unlock()
		for i := range 50 {
			w.put(fmt.Sprintf("j%02d", i), labelled("new"))
		}
		time.Sleep(time.Minute)
		w.awaitIndex(s)
		q := scheduler.JobQuery{Labels: selector(t, "team=new")}
		if got := strings.Count(w.found(s.Service, q, view.Page{}), "default/"); got != 60 || s.store.inBulk() == 0 {
			t.Errorf("%d jobs were found of 60, %d readings in turn", got, s.store.inBulk())
		}
	})
}

// TestBulkAgreesWithScan is TestIndexAgreesWithScan with an index that looks up next to nothing.
func TestBulkAgreesWithScan(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		w.sink.answers(func(c *call) (int, string) {
			if strings.Contains(c.host, "fails") {
				return 400, ""
			}
			return 200, ""
		})
		if _, _, err := w.service.PutCollection(t.Context(), "ops", nil); err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 14))
		indexed := w.newSearcher(func(st *watched) { st.threshold = 1 })
		w.awaitIndex(indexed)
		const least = 40
		compared := 0
		for round := 0; round < least/4 || (compared < least || indexed.store.inBulk() < 5) && round < 240; round++ {
			for range r.IntN(30) {
				w.searchMove(r, indexed)
			}
			time.Sleep([]time.Duration{0, 50 * time.Millisecond, time.Second, 9 * time.Second, 90 * time.Second, 6 * time.Minute}[r.IntN(6)])
			synctest.Wait()
			compared += w.compare(fmt.Sprintf("round %d", round), indexed, r)
			if t.Failed() {
				return
			}
		}
		if compared < least || indexed.store.inBulk() < 5 {
			t.Errorf("only %d searches were compared, with %d readings in turn", compared, indexed.store.inBulk())
		}
	})
}
