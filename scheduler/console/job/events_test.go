package job_test

import (
	"bufio"
	"context"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/console/consoletest"
)

// stream reads the events of a page.
type stream struct {
	lines  *bufio.Scanner
	cancel context.CancelFunc
	body   interface{ Close() error }
}

func follow(t *testing.T, w *consoletest.World, path string, headers ...string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), consoletest.Patience)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.Console.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r) //nolint:bodyclose // at the end of the test
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", path, res.StatusCode)
	}
	s := &stream{lines: bufio.NewScanner(res.Body), cancel: cancel, body: res.Body}
	s.lines.Buffer(nil, 1<<20)
	t.Cleanup(s.close)
	return s
}

func (s *stream) close() {
	s.cancel()
	_ = s.body.Close()
}

// next returns the next event of a name whose data has a text, and the id that came with it.
func (s *stream) next(t *testing.T, name, text string) (id string) {
	t.Helper()
	event, data, mark := "", "", ""
	for s.lines.Scan() {
		line := s.lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			event = line[len("event: "):]
		case strings.HasPrefix(line, "id: "):
			mark = line[len("id: "):]
		case strings.HasPrefix(line, "data: "):
			data += line[len("data: "):]
		case line == "":
			if event == name && strings.Contains(data, text) {
				return mark
			}
			event, data, mark = "", "", ""
		}
	}
	t.Fatalf("the events ended before %s with %q: %v", name, text, s.lines.Err())
	return ""
}

// reaches waits until a record is told of. Before that, the state that it led to may be: both are looked for by themselves.
func (s *stream) reaches(t *testing.T, sequence string) string {
	t.Helper()
	told := ""
	for told != sequence {
		told = s.next(t, "changed", "")
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
	s := follow(t, w, html.UnescapeString(after))
	s.next(t, "job-status", "Waits for its next run")
	w.Run("default/report")
	<-begun
	s.next(t, "job-status", "Runs now")
	s.close()
	close(end) // while nobody listens
	await(t, w, "default/report", scheduler.OutcomeCompleted, 1)
	s = follow(t, w, html.UnescapeString(after))
	s.next(t, "job-timeline", "t-completed")
	last := s.reaches(t, newest(t, w, "default/report"))
	s.close()
	w.Run("default/report")
	await(t, w, "default/report", scheduler.OutcomeCompleted, 2)
	s = follow(t, w, html.UnescapeString(after), "Last-Event-Id: "+last)
	s.reaches(t, newest(t, w, "default/report")) // what was recorded meanwhile
	if _, err := w.Service.Disable(t.Context(), consoletest.Key("default/report")); err != nil {
		t.Fatal(err)
	}
	s.next(t, "job-status", "Disabled")
	if err := w.Service.Delete(t.Context(), consoletest.Key("default/report"), 0); err != nil {
		t.Fatal(err)
	}
	s.next(t, "gone", "")
	follow(t, w, html.UnescapeString(after), "Last-Event-Id: "+last).next(t, "gone", "") // also to who comes later
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
	has(t, w.Get(path), `class="state running"`, "Disabled. Due runs are skipped", "One concurrent run is active.")
	close(end)
	await(t, w, "default/report", scheduler.OutcomeCompleted, 1)
	w.Await("it to be over", func() bool { return !strings.Contains(w.Get(path), "Manual run of") })
}
