package hostile

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
)

// Alarms is a log that keeps the lines that report a defect. It reads the text format of log/slog.
type Alarms struct {
	mu    sync.Mutex
	lines []string
}

// Write takes a line.
func (a *Alarms) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic")) || bytes.Contains(line, []byte("level=ERROR")) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lines = append(a.lines, string(line))
	}
	return len(line), nil
}

// Lines are those that were kept.
func (a *Alarms) Lines() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.lines)
}

// Heap is how many bytes are in use.
func Heap() uint64 {
	runtime.GC() //nolint:revive // exclude garbage
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
