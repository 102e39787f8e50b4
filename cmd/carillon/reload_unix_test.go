//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// TestReloadsUnderLoad changes the file of settings again and again, with SIGHUPs, every third time to one that is not in
// order, while jobs are put and run. No request is refused, no attempt fails, and each job runs once.
func TestReloadsUnderLoad(t *testing.T) {
	hangups := make(chan os.Signal, 1) // one that comes when nothing is served ends nothing
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	ran := &counted{runs: map[string]int{}}
	target := httptest.NewServer(ran)
	defer target.Close()
	file := filepath.Join(t.TempDir(), "serve.yaml")
	change := settingsIn(t, file)
	change(0)
	s := serveOn(t, "--config", file, "--nats-url", aloneServer(t))
	address := s.address(t)

	load := &putters{target: target.URL, address: address, enough: make(chan struct{})}
	for lane := range 4 {
		load.lanes.Go(func() { load.put(t, lane) })
	}
	changed := func(n int) {
		before := strings.Count(s.log.String(), "settings have changed") + strings.Count(s.log.String(), "changed settings")
		change(n)
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Error(err)
		}
		s.until(t, "the change is seen", func() bool {
			log := s.log.String()
			return strings.Count(log, "settings have changed")+strings.Count(log, "changed settings") > before
		})
	}
	changes, least := 30, 100
	if testing.Short() {
		changes, least = 9, 30
	}
	for n := range changes {
		changed(n + 1)
	}
	close(load.enough)
	load.lanes.Wait()
	if load.jobs < least {
		t.Errorf("%d jobs were put meanwhile", load.jobs)
	}
	s.until(t, "all jobs have run", func() bool { return ran.count() >= load.jobs })
	s.end(t)
	ran.mu.Lock()
	defer ran.mu.Unlock()
	for job, n := range ran.runs {
		if n != 1 {
			t.Errorf("%s ran %d times", job, n)
		}
	}
	if log := s.log.String(); strings.Contains(log, "outcome=failed") {
		t.Errorf("an attempt failed:\n%s", log)
	}
}

// settingsIn returns what puts settings in the place of a file, other ones for each number than for the one before.
func settingsIn(t *testing.T, file string) func(n int) {
	return func(n int) {
		text := fmt.Sprintf("allow-target: [127.0.0.0/8, 10.%d.0.0/16]\nhttp-rate: %d\nlog-level: %s\n", n, 100_000+n, []string{"info", "debug"}[n%2])
		if n%3 == 2 {
			text += "no-setting: 1\n"
		}
		next := fmt.Sprintf("%s.%d", file, n)
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Error(err)
		}
	}
}

// counted is a target that counts the runs of each job.
type counted struct {
	mu   sync.Mutex
	runs map[string]int
}

// ServeHTTP counts one.
func (c *counted) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs[r.URL.Path]++
}

// count is how many jobs have run.
func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.runs)
}

// putters put jobs that run at once, until it is enough.
type putters struct {
	target, address string
	enough          chan struct{}
	lanes           sync.WaitGroup

	mu   sync.Mutex
	jobs int
}

func (p *putters) put(t *testing.T, lane int) {
	const job = `{"action": {"type": "http", "request": {"method": "POST", "uri": "%s/%s"}, "retryPolicy": {"retryType": "none"}}}`
	for n := 0; ; n++ {
		select {
		case <-p.enough:
			return
		default:
		}
		name := fmt.Sprintf("job-%d-%d", lane, n)
		body := strings.NewReader(fmt.Sprintf(job, p.target, name))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.address+"/jobCollections/default/jobs/"+name, body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			t.Errorf("%s: %s", name, resp.Status)
			return
		}
		p.mu.Lock()
		p.jobs++
		p.mu.Unlock()
	}
}
