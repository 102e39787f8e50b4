package delivery

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

const restarted = `{"action": {"type": "http", "request": {"method": "POST", "uri": "%s/main"},
	"retryPolicy": {"retryType": "fixed", "retryInterval": "PT0.5S", "retryCount": 2},
	"errorAction": {"type": "http", "request": {"method": "POST", "uri": "%s/alarm"}}}}`

// TestRestartBetweenRetries stops the scheduler while a job waits for its retry. The next one goes on with that.
func TestRestartBetweenRetries(t *testing.T) {
	s := newSystem(t)
	s.target.answers(func(r received, _ int) int {
		if r.path == "/main" {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	s.put("job", fmt.Sprintf(restarted, s.target.URL, s.target.URL))
	s.history("job", func(records []*scheduler.Record) bool { return len(records) == 1 })
	s.stop()
	s.start()
	if got, want := s.ended("job"), "failed failed failed completed/error faulted"; got != want {
		t.Errorf("history %q, want %q", got, want)
	}
	s.target.inOrder(t, "/main 1", "/main 2", "/main 3", "/alarm 4")
}

// TestRestartBeforeErrorAction stops the scheduler between the end of the main action and the errorAction.
func TestRestartBeforeErrorAction(t *testing.T) {
	s := newSystem(t)
	reached, release := make(chan struct{}), make(chan struct{})
	s.target.answers(func(r received, n int) int {
		switch {
		case r.path == "/alarm":
			return http.StatusOK
		case n == 2:
			close(reached)
			<-release
		}
		return http.StatusServiceUnavailable
	})
	s.put("job", fmt.Sprintf(restarted, s.target.URL, s.target.URL))
	select {
	case <-reached:
	case <-time.After(patience):
		t.Fatal("the last retry did not come")
	}
	s.halt() // it takes nothing more, but lets the attempt end: what follows is for the next one
	close(release)
	s.stop()
	if got := outcomes(s.history("job", func(records []*scheduler.Record) bool { return len(records) >= 3 })); got != "failed failed failed" {
		t.Errorf("history %q at the stop", got)
	}
	s.start()
	if got, want := s.ended("job"), "failed failed failed completed/error faulted"; got != want {
		t.Errorf("history %q, want %q", got, want)
	}
	s.target.inOrder(t, "/main 1", "/main 2", "/main 3", "/alarm 4")
	if got := s.target.get(t, "/alarm").header.Get("X-Carillon-Failed-Attempts"); got != "3" {
		t.Errorf("the errorAction was told of %s attempts", got)
	}
}
