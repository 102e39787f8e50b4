package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// scanned has jobs enough that the server does not deliver all of them before the first is read.
type scanned struct {
	w         *harness
	revisions []uint64
}

func newScanned(w *harness, jobs, revisions int) *scanned {
	s := &scanned{w, make([]uint64, jobs)}
	for i := range jobs {
		for range revisions {
			s.save(i)
		}
	}
	return s
}

func (s *scanned) key(i int) scheduler.Key {
	return scheduler.Key{Collection: "c", Job: strconv.Itoa(i)}
}

func (s *scanned) save(i int) {
	s.w.t.Helper()
	s.revisions[i] = must.Get(s.w.store.SaveJob(s.w.t.Context(), s.key(i), []byte("{}"), s.revisions[i], false))(s.w.t)
}

func (s *scanned) remove(i int) {
	s.w.t.Helper()
	s.w.must(s.w.store.RemoveJob(s.w.t.Context(), s.key(i), s.revisions[i], 0))
	marker, err := s.w.store.LoadJob(s.w.t.Context(), s.key(i))
	mustBe(s.w.t, "a removed job", err, scheduler.ErrNotFound)
	s.revisions[i] = marker.Revision
}

// TestEachStoredJobWrittenAgain: jobs whose last revision is removed while the rest is read by range are not hidden.
func TestEachStoredJobWrittenAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const jobs, first, often, again = 1500, 640, 1498, 1499
		s, seen, rest := newScanned(w, jobs, 1), map[string]bool{}, false
		w.must(w.store.EachStoredJob(t.Context(), func(st scheduler.Stored) error {
			i, _ := strconv.Atoi(st.Key.Job)
			if len(seen) == 0 {
				for i := 600; i < first; i++ {
					s.remove(i)
				}
			}
			if !rest && i >= first {
				rest = true
				for range 9 {
					s.save(often)
				}
				s.remove(again)
				s.save(again)
			}
			seen[st.Key.Job] = true
			return nil
		}))
		for i := range jobs {
			if removed := i >= 600 && i < first; !removed && !seen[strconv.Itoa(i)] {
				t.Errorf("job %d is missing; %d were returned", i, len(seen))
			}
		}
	})
}

// TestEachStoredJobReconnected: after a reconnect, no job is returned in an earlier revision.
func TestEachStoredJobReconnected(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const jobs = 1500
		s, seen := newScanned(w, jobs, 3), map[string]bool{}
		w.must(w.store.EachStoredJob(t.Context(), func(st scheduler.Stored) error {
			i, _ := strconv.Atoi(st.Key.Job)
			if len(seen) == 0 {
				w.must(w.nc.ForceReconnect())
			}
			if st.Revision < s.revisions[i] || seen[st.Key.Job] {
				t.Errorf("job %d in revision %d after %t, want only %d", i, st.Revision, seen[st.Key.Job], s.revisions[i])
			}
			seen[st.Key.Job] = true
			return nil
		}))
		if len(seen) != jobs {
			t.Errorf("%d jobs of %d", len(seen), jobs)
		}
	})
}

// TestEachJobFromEnd: when the last message has been removed, a read ends before later ones.
func TestEachJobFromEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, w *harness) {
		const jobs = 1500
		s, n := newScanned(w, jobs, 1), 0
		s.remove(jobs - 1)
		time.Sleep(2 * time.Hour) // the deletion marker expires
		s.revisions[jobs-1] = 0
		w.must(w.store.EachJobFrom(t.Context(), 1, func(st scheduler.Stored, _ bool) error {
			n++
			if n == 1 {
				s.save(jobs - 1)
			}
			if st.Revision == s.revisions[jobs-1] {
				t.Error("a definition that was written during the read")
			}
			return nil
		}))
		if n != jobs-1 {
			t.Errorf("%d definitions, want %d", n, jobs-1)
		}
	})
}
