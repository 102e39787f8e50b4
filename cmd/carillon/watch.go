package main

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// stamp tells whether a file changed.
type stamp struct {
	size     int64
	modified time.Time
}

// watcher applies job files, and again when they change. A file that goes away
// leaves its jobs as they are.
type watcher struct {
	paths  []string
	reader jobfile.Reader
	put    jobfile.Put
	t      *terminal.Terminal
	seen   map[string]stamp
}

// apply reads all files, puts the jobs of those that are new or changed, and
// reports what became of them.
func (w *watcher) apply(ctx context.Context) ([]jobfile.Result, error) {
	files, problems := jobfile.Find(w.paths)
	now := stamps(files)
	if w.seen != nil && maps.Equal(now, w.seen) {
		return nil, nil
	}
	jobs, wrong := w.reader.Read(files)
	jobs = slices.DeleteFunc(jobs, func(j jobfile.Job) bool {
		before, known := w.seen[j.File]
		return known && before == now[j.File]
	})
	w.seen = now
	w.paths = slices.DeleteFunc(w.paths, func(path string) bool { return path == jobfile.Stdin }) // it is read up
	results := jobfile.Apply(ctx, jobs, w.put)
	if w.t.JSON { // the documents that are printed are records
		for _, r := range results {
			warn(w.t, r)
		}
	}
	return results, report(w.t, append(problems, wrong...), results)
}

func stamps(files []string) map[string]stamp {
	m := make(map[string]stamp, len(files))
	for _, f := range files {
		m[f] = stamp{}
		if info, err := os.Stat(f); err == nil {
			m[f] = stamp{info.Size(), info.ModTime()}
		}
	}
	return m
}

// lookEvery is how often the files are looked at.
const lookEvery = 500 * time.Millisecond

// watch applies what changes until ctx is done.
func (w *watcher) watch(ctx context.Context) {
	tick := time.Tick(lookEvery)
	for {
		select {
		case <-tick:
			_, err := w.apply(ctx)
			w.t.Fail(err)
		case <-ctx.Done():
			return
		}
	}
}
