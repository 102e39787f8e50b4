package frame_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// lasting is a console with live parts, of which there may be so many, and a page that may last; and its log.
func lasting(t *testing.T, most int) (*httptest.Server, *logtest.Log) {
	t.Helper()
	section := frame.Section{Name: "overview", Right: auth.ReadAny, Routes: []frame.Route{
		{Method: http.MethodGet, Path: "/console/events", Right: auth.Known, Live: true, Do: func(c *frame.Request) error {
			l := c.Live()
			_ = l.Event("here", "", "")
			<-c.Context().Done()
			return nil
		}},
		{Method: http.MethodGet, Path: "/console/wait", Right: auth.Known, Do: func(c *frame.Request) error {
			leave, err := c.Lasts()
			if err != nil {
				return err
			}
			defer leave()
			return c.Redirect("/")
		}},
		{Method: http.MethodGet, Path: "/console/broken", Right: auth.Known, Live: true, Do: func(c *frame.Request) error {
			_ = c.Live().Event("here", "", "")
			return errors.New("a defect")
		}},
		{Method: http.MethodGet, Path: "/console/gone", Right: auth.Known, Live: true, Do: func(c *frame.Request) error {
			l := c.Live()
			for {
				if err := l.Event("here", "", strings.Repeat("x", 1<<20)); err != nil {
					return fmt.Errorf("part: %w", err)
				}
			}
		}},
		{Method: http.MethodGet, Path: "/console/none", Right: auth.Known, Do: func(c *frame.Request) error {
			c.Live()
			return nil
		}},
	}}
	var log logtest.Log
	f := frame.New(frame.Config{
		Sections: []frame.Section{section}, Identify: identify, MaxLive: most,
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	s := httptest.NewUnstartedServer(f)
	s.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(&log, nil), slog.LevelError)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s, &log
}

// begin asks for a page as somebody, and returns the answer's status and, of a live one, the name of its first event.
func begin(ctx context.Context, t *testing.T, s *httptest.Server, path, token string) (status int, event string, body io.Closer) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, http.NoBody))(t)
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
	s, _ := lasting(t, 8) // two for each caller
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

// TestLiveEnds ends live answers by a defect, and by a reader who goes: no page is mixed into them, and the log has the defect.
func TestLiveEnds(t *testing.T) {
	s, log := lasting(t, 8)
	get := func(method, path string) *http.Response {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), method, s.URL+path, http.NoBody))(t)
		r.Header.Set("Authorization", "Bearer admin-token")
		res := must.Get(s.Client().Do(r))(t)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	told, err := io.ReadAll(get(http.MethodGet, "/console/broken").Body) //nolint:bodyclose // it is, above
	if want := ":\n\nevent: here\ndata: \n\n"; err != nil || string(told) != want {
		t.Errorf("it tells %q (%v), want %q", told, err, want)
	}
	res := get(http.MethodHead, "/console/broken") //nolint:bodyclose // likewise
	if res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != http.MethodGet {
		t.Errorf("HEAD: %s, %v", res.Status, res.Header)
	}
	gone := get(http.MethodGet, "/console/gone")
	must.Get(io.ReadFull(gone.Body, make([]byte, 1000)))(t)
	_ = gone.Body.Close()
	must.Await(t, "its end, when its reader goes", func() bool { return strings.Contains(log.String(), "path=/console/gone") })
	text := log.String()
	if n := strings.Count(text, "level=ERROR"); n != 1 || !strings.Contains(text, `"live answer ended because of a defect" path=/console/broken err="a defect"`) {
		t.Errorf("%d errors in the log: %s", n, text)
	}
}

// TestRightsChange has who asks lose a right, or a collection, while they are answered: that ends, and so does what goes on in
// the background. What they have still does not.
func TestRightsChange(t *testing.T) {
	all := []auth.Grant{{Role: auth.Operator, Collections: []string{"a", "b"}}, {Role: auth.Reader}}
	for name, test := range map[string]struct {
		then []auth.Grant
		err  error
		ends bool
	}{
		"nothing changes":      {all, nil, false},
		"the store is away":    {nil, scheduler.ErrUnavailable, false},
		"the token is revoked": {nil, &auth.Unknown{Reason: "it is revoked"}, true},
		"no right is left":     {all[1:], nil, true},
		"a collection is lost": {[]auth.Grant{{Role: auth.Operator, Collections: []string{"a"}}, all[1]}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				var ended, over time.Duration
				began := time.Now()
				section := frame.Section{Name: "overview", Right: auth.ReadAny, Routes: []frame.Route{
					{Method: http.MethodGet, Path: "/console/many", Right: auth.OperateAny, Do: func(c *frame.Request) error {
						ctx, end := c.Background(auth.OperateAny)
						defer end()
						late, cancel := context.WithTimeout(t.Context(), time.Minute)
						defer cancel()
						wait := func(ctx context.Context, took *time.Duration) {
							select {
							case <-ctx.Done():
								*took = time.Since(began)
							case <-late.Done():
							}
						}
						wait(c.Context(), &ended)
						wait(ctx, &over)
						if c.Lasting().Err() != nil {
							t.Error("a change that has begun is not brought to its end")
						}
						return nil
					}},
				}}
				f := frame.New(frame.Config{Sections: []frame.Section{section}, Identify: func(*http.Request) (*auth.Principal, error) {
					if time.Since(began) > 10*time.Second {
						return &auth.Principal{Name: "me", Grants: test.then}, test.err
					}
					return &auth.Principal{Name: "me", Grants: all}, nil
				}})
				ask(f, http.MethodGet, "/console/many", "")
				if in := 10*time.Second < ended && ended <= 13*time.Second && over < 13*time.Second && 0 < over; in != test.ends {
					t.Errorf("the request ends after %s, and the work after %s", ended, over)
				}
			})
		})
	}
}
