package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// The parts of the scenario console, beside one for each page.
const (
	partJobs      = "jobs"
	consoleAsked  = 30 // times that each page is asked for
	consoleLong   = 3  // times that what is counted in the background is
	consolePrefix = "kept-"
)

// console asks for each page of the console while many jobs wait and others run.
func console(ctx context.Context, b *bench) (parts []part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	kept := b.distant()
	kept.prefix, kept.members = consolePrefix, searched
	jobs, err := st.withSystem(ctx, func(sys *system) (figures, error) {
		took, err := sys.putAll(ctx, st.progress, kept, st.sink.url)
		if err != nil {
			return nil, err
		}
		fs, err := st.catchUp(ctx, sys)
		return append(figures{{"register_s", took.Seconds()}}, fs...), err
	})
	if err != nil {
		return nil, err
	}
	_, err = st.withSystem(ctx, func(sys *system) (figures, error) {
		worker, ok := sys.carillon.(*remote)
		if !ok {
			return nil, errNotApart
		}
		began := time.Now()
		if err := st.awaitIndex(ctx, worker.serving, indexLook, func() (bool, error) { return worker.serving.indexed(ctx) }); err != nil {
			return nil, err
		}
		jobs = append(jobs, figure{"index_s", time.Since(began).Seconds()})
		running, _, err := st.putSteady(ctx, sys)
		if err != nil {
			return nil, err
		}
		from := running.first.Add(st.warmup)
		if err := sleep(ctx, from); err != nil {
			return nil, err
		}
		if parts, err = st.lookAtPages(ctx, worker.serving, kept, running); err != nil {
			return nil, err
		}
		to := time.Now()
		if err := st.complete(ctx, running, from, to); err != nil {
			return nil, err
		}
		t := st.sink.account(running, from, to)
		jobs = append(append(jobs, t.lateness()...), t.faults()...)
		jobs = append(jobs, st.memory()...)
		return nil, nil
	})
	return append([]part{{partJobs, jobs}}, parts...), err
}

var errNotApart = errors.New("the scheduler is not a process of its own")

// How the table of jobs is searched while the index reads what was just put: for a text that no job has, so that what is counted
// are those that have not been read.
const (
	catchUpPath = "/console/jobs?q=nowhere"
	catchUpLook = time.Second
)

// catchUp searches until the index has read all jobs that were just put.
func (s *stage) catchUp(ctx context.Context, sys *system) (figures, error) {
	worker, ok := sys.carillon.(*remote)
	if !ok {
		return nil, errNotApart
	}
	var took spread
	began, spent := time.Now(), s.readCPU()
	err := s.awaitIndex(ctx, worker.serving, catchUpLook, func() (bool, error) {
		asked := time.Now()
		page, err := worker.serving.answer(ctx, http.MethodGet, worker.serving.http+catchUpPath, nil)
		took = append(took, time.Since(asked))
		return !bytes.Contains(page, consoleBehind), err
	})
	slices.Sort(took)
	return figures{
		{"catch_up_s", time.Since(began).Seconds()},
		{"catch_up_cpu_s", (s.readCPU() - spent).Seconds()},
		{"catch_up_page_p50_ms", ms(took.percentile(50))},
		{"catch_up_page_max_ms", ms(took.percentile(100))},
	}, err
}

// lookAtPages asks for each page by itself.
func (s *stage) lookAtPages(ctx context.Context, from *serving, kept, running calendar) (parts []part, err error) {
	for _, q := range consolePages(kept, running) {
		p, err := s.lookAt(ctx, from, q, consoleAsked)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		parts = append(parts, p)
	}
	for _, q := range []question{
		{"load, counted", "/console/load?wait=true"},
		{"calendar of a day, counted", "/console/calendar?wait=true"},
		{"calendar of a week, counted", "/console/calendar?view=week&wait=true"},
	} {
		p, err := s.lookAt(ctx, from, q, consoleLong)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// consolePages are the pages of the console, as a browser asks for them first.
func consolePages(kept, running calendar) []question {
	jobs := func(values url.Values) string { return "/console/jobs?" + values.Encode() }
	name := kept.job(kept.jobs / 2).Job
	const order = "descending"
	return []question{
		{"overview", "/"},
		{"overview of a day", "/?range=day"},
		{"jobs", "/console/jobs"},
		{"jobs, text in one name in 1,000", jobs(url.Values{"q": {name[max(len(name)-3, 0):]}})},
		{"jobs, text in a label", jobs(url.Values{"q": {"ORDER=O77"}})},
		{"jobs, text nowhere", jobs(url.Values{"q": {"nowhere"}})},
		{"jobs, by next run", jobs(url.Values{"sort": {"next"}})},
		{"jobs, by last run", jobs(url.Values{"sort": {"last"}, "order": {order}})},
		{"jobs, disabled, with a label", jobs(url.Values{"state": {"disabled"}, "label": {"team=t50"}})},
		{"a job that waits", "/console/jobs/default/" + name},
		{"a job that runs", "/console/jobs/default/" + running.job(running.jobs/2).Job},
		{"edit", "/console/jobs/default/" + name + "/edit"},
		{"new job", "/console/jobs/new"},
		{"collections", "/console/collections"},
		{"live", "/console/live"},
		{"load", "/console/load"},
		{"calendar of a day", "/console/calendar"},
		{"calendar of a week", "/console/calendar?view=week"},
	}
}

// lookAt asks for a page so many times.
func (s *stage) lookAt(ctx context.Context, from *serving, q question, times int) (part, error) {
	var took spread
	size, spent := 0, s.readCPU()
	for range times {
		began := time.Now()
		n, err := from.look(ctx, q.path)
		if err != nil {
			return part{}, err
		}
		took, size = append(took, time.Since(began)), max(size, n)
	}
	spent = s.readCPU() - spent
	fs := append(figures{{"page_first_ms", ms(took[0])}}, took.figures("page_")...)
	s.progress.sayf("%s: %.1f ms", q.name, ms(took.percentile(50)))
	return part{q.name, append(fs, figure{"page_kb", float64(size) / 1000}, figure{"cpu_ms_per_page", ms(spent) / float64(times)})}, nil
}

// look asks for a page, and returns its size as it came over the wire.
func (s *serving) look(ctx context.Context, path string) (size int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http+path, http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, err := s.answer(ctx, http.MethodGet, s.http+path, nil) // again, as it may be read
		return 0, cmp.Or(err, error(&refusal{req.Method + " " + path, resp.Status, string(text)}))
	}
	n, err := io.Copy(io.Discard, resp.Body)
	return int(n), err
}
