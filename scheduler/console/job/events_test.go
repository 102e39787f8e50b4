package job_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
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
