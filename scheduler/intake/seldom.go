package intake

import (
	"log/slog"
	"sync"
	"time"
)

// lineEvery is the minimum interval between two lines at warn.
const lineEvery = 10 * time.Second

// Seldom limits the log lines about a condition that affects thousands of jobs at the same time, such as an unavailable
// store. The zero value is ready for use.
type Seldom struct {
	mu      sync.Mutex
	logged  time.Time
	omitted int
}

// Level returns the level of the next line: warn, or debug if a line was logged at warn in the last ten seconds.
// omitted is the number of lines at debug before a line at warn.
func (s *Seldom) Level() (level slog.Level, omitted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.logged) < lineEvery {
		s.omitted++
		return slog.LevelDebug, 0
	}
	return slog.LevelWarn, s.take()
}

// Rest returns the number of lines at debug that no line at warn has reported yet. It returns false within ten seconds
// of the last line at warn.
func (s *Seldom) Rest() (omitted int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.logged) < lineEvery {
		return 0, false
	}
	if s.omitted == 0 {
		return 0, true
	}
	return s.take(), true
}

// take starts another ten seconds. The caller holds the lock.
func (s *Seldom) take() (omitted int) {
	omitted, s.logged, s.omitted = s.omitted, time.Now(), 0
	return omitted
}
