package job_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
	"github.com/carillon-sched/carillon/scheduler/control"
)

// reaches waits until a record is told of. Before that, the state that it led to may be: both are looked for by themselves.
func reaches(s *consoletest.Stream, sequence string) string {
	told := ""
	for told != sequence {
		told = s.Next("changed", "").ID
	}
	return told
}

// TestEvents brings a page up to date while a job runs, is changed, and is deleted, and loses nothing with a connection.
func TestEvents(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	begun, end := make(chan struct{}, 9), make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-end
	}))
	t.Cleanup(target.Close)
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+target.URL+`"}}}`)
	const path = "/console/jobs/default/report"
	after := regexp.MustCompile(`data-events="([^"]+)"`).FindStringSubmatch(w.Get(path))[1]
	s := w.Follow(html.UnescapeString(after))
	s.Next("job-status", "Waits for its next run")
	w.Run("default/report")
	<-begun
	s.Next("job-status", "Running")
	s.Close()
	close(end) // while nobody listens
	await(t, w, "default/report", scheduler.OutcomeCompleted, 1)
	s = w.Follow(html.UnescapeString(after))
	s.Next("job-timeline", "t-completed")
	last := reaches(s, newest(t, w, "default/report"))
	s.Close()
	w.Run("default/report")
	await(t, w, "default/report", scheduler.OutcomeCompleted, 2)
	s = w.Follow(html.UnescapeString(after), "Last-Event-Id: "+last)
	reaches(s, newest(t, w, "default/report")) // what was recorded meanwhile
	w.OK(w.Service.Disable(t.Context(), consoletest.Key("default/report")))
	s.Next("job-status", "Disabled")
	w.OK(w.Service.Delete(t.Context(), consoletest.Key("default/report"), 0))
	s.Next("end", "This job was deleted.")
	w.Follow(html.UnescapeString(after), "Last-Event-Id: "+last).Next("end", "This job was deleted.") // also to who comes later
}

// TestBeside tells of a run that goes on beside the schedule: that by hand of a job that is disabled.
func TestBeside(t *testing.T) {
	w := consoletest.New(t)
	w.Work()
	begun, end := make(chan struct{}, 9), make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-end
	}))
	t.Cleanup(target.Close)
	w.Put("default/report", `{"state": "disabled", `+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "`+target.URL+`"}}}`)
	w.Run("default/report")
	<-begun
	const path = "/console/jobs/default/report"
	w.Await("the run to be told", func() bool { return strings.Contains(w.Get(path), "Manual run of") })
	w.Has(w.Get(path), `class="state running"`, "Disabled. Due runs are skipped", "One concurrent run is active.")
	close(end)
	await(t, w, "default/report", scheduler.OutcomeCompleted, 1)
	w.Await("it to be over", func() bool { return !strings.Contains(w.Get(path), "Manual run of") })
}

// longHistory reads one record, and the others after its release.
type longHistory struct {
	scheduler.Store

	release chan struct{}
}

func (s longHistory) Recent(
	ctx context.Context, k scheduler.Key, before uint64, outcomes []scheduler.Outcome, f func(*scheduler.Record) bool,
) error {
	n := 0
	err := s.Store.Recent(ctx, k, before, outcomes, func(r *scheduler.Record) bool {
		n++
		if n > 1 {
			select {
			case <-s.release:
			case <-ctx.Done():
				return false
			}
		}
		return f(r)
	})
	return errors.Join(err, context.Cause(ctx))
}

// TestLongHistory shows a job before its past runs are read, which its events deliver.
func TestLongHistory(t *testing.T) {
	release := make(chan struct{})
	w := consoletest.New(t, func(w *consoletest.Harness, cfg *console.Config) {
		cfg.Service = control.New(control.Config{Store: longHistory{w.Store, release}, Actions: w.Actions, Secrets: w.Vault})
	})
	w.Put("default/report", `{`+yearly+`, "action": {"type": "http", "request": {"method": "GET", "uri": "http://example.com"}}}`)
	for minute := range 3 {
		w.Append(consoletest.Attempt("default/report", time.Now().Add(time.Duration(minute-5)*time.Minute)))
	}
	const path = "/console/jobs/default/report"
	page := w.Get(path)
	w.Has(page, "Reading past runs…", path+"?wait=true", "report", "example.com")
	w.HasNone(page, "No runs yet.", "t-completed")
	events := html.UnescapeString(regexp.MustCompile(`data-events="([^"]+)"`).FindStringSubmatch(page)[1])
	s := w.Follow(events)
	s.Next("job-status", "")
	close(release)
	s.Next("job-timeline", "t-completed")
	s.Next("changed", "")
	if n := strings.Count(w.Part(path), "data-line"); n != 3 {
		t.Errorf("the history has %d runs, not 3", n)
	}
	page = w.Get(path + "?wait=true")
	w.Has(page, "t-completed")
	w.HasNone(page, "Reading past runs…", "read=false")
}
