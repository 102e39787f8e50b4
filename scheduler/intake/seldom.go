package intake

import (
	"log/slog"
	"sync"
	"time"
)

// tellEvery is how often the log is told of what happens to many at once: what
// hangs for hours is found, and what else is told is not buried.
const tellEvery = 10 * time.Second

// Seldom thins out what the log is told of one matter that comes by thousands at
// once, such as what the store's absence makes of jobs. Its zero value is ready for use.
type Seldom struct {
	mu     sync.Mutex
	told   time.Time
	untold int
}

// Level is that of the next line: warn, but debug when one was at warn less than
// ten seconds ago. untold is how many were at debug before one at warn.
func (s *Seldom) Level() (level slog.Level, untold int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.told) < tellEvery {
		s.untold++
		return slog.LevelDebug, 0
	}
	untold, s.told, s.untold = s.untold, now, 0
	return slog.LevelWarn, untold
}
