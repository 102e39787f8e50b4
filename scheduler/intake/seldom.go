package intake

import (
	"log/slog"
	"sync"
	"time"
)

// lineEvery is the least time between two lines of one matter.
const lineEvery = 10 * time.Second

// Seldom limits the log lines of one matter that thousands of jobs have at the same time, such as the absence of the store. Its
// zero value is ready for use.
type Seldom struct {
	mu      sync.Mutex
	logged  time.Time
	omitted int
}

// Level returns the level of the next line: warn, or debug if one was logged at warn in the last ten seconds. omitted is the
// number of lines at debug before one at warn.
func (s *Seldom) Level() (level slog.Level, omitted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.logged) < lineEvery {
		s.omitted++
		return slog.LevelDebug, 0
	}
	return slog.LevelWarn, s.take()
}

// Rest returns the number of lines at debug that no line at warn has reported yet, or false if the last line at warn is less
// than ten seconds old.
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

// take begins another ten seconds. The lock is held.
func (s *Seldom) take() (omitted int) {
	omitted, s.logged, s.omitted = s.omitted, time.Now(), 0
	return omitted
}
