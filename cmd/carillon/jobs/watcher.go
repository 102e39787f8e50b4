package jobs

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// stamp detects changes of a file.
type stamp struct {
	size     int64
	modified time.Time
}

// Watcher applies job files, and applies them again when they change. Deleting a file does not delete its jobs.
type Watcher struct {
	t      *terminal.Terminal
	reader jobfile.Reader
	put    jobfile.Put
	paths  []string
	seen   map[string]stamp
}

// NewWatcher returns a watcher of files and directories.
func NewWatcher(t *terminal.Terminal, reader jobfile.Reader, put jobfile.Put, paths []string) *Watcher {
	return &Watcher{t: t, reader: reader, put: put, paths: slices.Clone(paths)}
}

// Apply reads all files, puts the jobs of new and changed ones, and reports the results.
func (w *Watcher) Apply(ctx context.Context) ([]jobfile.Result, error) {
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
	w.paths = slices.DeleteFunc(w.paths, func(path string) bool { return path == jobfile.Stdin }) // standard input can be read only once
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

// lookEvery is the interval of checks for changed files.
const lookEvery = 500 * time.Millisecond

// Watch applies changed files until ctx is done.
func (w *Watcher) Watch(ctx context.Context) {
	tick := time.Tick(lookEvery)
	for {
		select {
		case <-tick:
			_, err := w.Apply(ctx)
			w.t.Fail(err)
		case <-ctx.Done():
			return
		}
	}
}

// echoVariable names a target for testing jobs.
const echoVariable = variable.Prefix + "ECHO"

// LookupWith returns the environment with a default for CARILLON_ECHO.
func LookupWith(env variable.Lookup, echo string) variable.Lookup {
	return withEcho(env, func() (string, bool) { return echo, true })
}

func withEcho(env variable.Lookup, echo func() (string, bool)) variable.Lookup {
	return func(name string) (string, bool) {
		if v, ok := env(name); ok || name != echoVariable {
			return v, ok
		}
		return echo()
	}
}

// lookupAt returns the environment, with the scheduler's /echo as CARILLON_ECHO if it has one. It asks the
// scheduler once, when a file uses the variable; a scheduler that does not respond will not accept the jobs
// either.
func lookupAt(ctx context.Context, env variable.Lookup, api *client.Client) variable.Lookup {
	return withEcho(env, sync.OnceValues(func() (string, bool) {
		found, err := api.HasEcho(ctx)
		return api.URL() + client.EchoPath, found || err != nil
	}))
}

// echoHint suggests a fix if the problem is a missing /echo; otherwise "".
func echoHint(p jobfile.Problem) string {
	if !strings.Contains(p.Message, "the variable "+echoVariable+" is not set") {
		return ""
	}
	return "this scheduler does not serve /echo: start it with --echo, or set " + echoVariable +
		" to the URL of another target"
}
