package frame_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// lasting is a console with a live part, of which there may be so many, and a page that may last.
func lasting(t *testing.T, most int) *httptest.Server {
	t.Helper()
	room := frame.Room{Name: "overview", Right: access.ReadAny, Routes: []frame.Route{
		{Method: http.MethodGet, Path: "/console/events", Right: access.Known, Live: true, Do: func(c *frame.Call) error {
			l := c.Live()
			_ = l.Event("here", "", "")
			<-c.Context().Done()
			return nil
		}},
		{Method: http.MethodGet, Path: "/console/wait", Right: access.Known, Do: func(c *frame.Call) error {
			leave, err := c.Lasts()
			if err != nil {
				return err
			}
			defer leave()
			return c.Redirect("/")
		}},
		{Method: http.MethodGet, Path: "/console/none", Right: access.Known, Do: func(c *frame.Call) error {
			c.Live()
			return nil
		}},
	}}
	s := httptest.NewServer(frame.New(frame.Config{Rooms: []frame.Room{room}, Identify: identify, MaxLive: most}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// begin asks for a page as somebody, and returns the answer's status and, of a live one, the name of its first event.
func begin(ctx context.Context, t *testing.T, s *httptest.Server, path, token string) (status int, event string, body io.Closer) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := (&http.Transport{}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(res.Body); res.Header.Get("Content-Type") == "text/event-stream; charset=utf-8" && lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			return res.StatusCode, name, res.Body
		}
	}
	return res.StatusCode, "", res.Body
}

// TestLiveParts has one caller take the places that one may have: others have theirs, and there is one again when it goes.
func TestLiveParts(t *testing.T) {
	s := lasting(t, 8) // two for each caller
	var open []io.Closer
	ask := func(path, token string, status int, want string) {
		t.Helper()
		got, event, body := begin(t.Context(), t, s, path, token)
		open = append(open, body)
		if got != status || event != want {
			t.Errorf("%s as %s: %d, %q; want %d, %q", path, token, got, event, status, want)
		}
	}
	ask("/console/events", "admin-token", 200, "here")
	ask("/console/wait", "admin-token", 303, "")
	ask("/console/events", "admin-token", 200, "here")
	ask("/console/events", "admin-token", 200, "end")
	ask("/console/wait", "admin-token", 429, "")
	ask("/console/events", "reader-token", 200, "here")
	for _, one := range open {
		_ = one.Close()
	}
	for event := ""; event != "here"; { // the server learns of it a moment later
		_, event, _ = begin(t.Context(), t, s, "/console/events", "admin-token")
	}
	ask("/console/none", "admin-token", 500, "")
}
