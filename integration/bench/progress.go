package main

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// progress tells on stderr what long work is at.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	began time.Time
}

func newProgress(w io.Writer, o options) *progress {
	if o.quiet {
		w = io.Discard
	}
	return &progress{w: w, began: time.Now()}
}

// sayf writes a line.
func (p *progress) sayf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.w, "%7.1fs  %s\n", time.Since(p.began).Seconds(), fmt.Sprintf(format, args...))
}

// log takes what Carillon cannot tell its callers.
func (p *progress) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(p.w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// follow writes a line each second until the returned function is called:
// what, how many of n are done, and how many more since the line before.
func (p *progress) follow(what string, n int, done func() int) (stop func()) {
	before := 0
	return every(time.Second, func() {
		now := done()
		p.sayf("%s: %d of %d, %d/s", what, now, n, now-before)
		before = now
	})
}
