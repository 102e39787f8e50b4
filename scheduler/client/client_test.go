package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// serve runs a server that answers everything alike, and returns a client.
func serve(t *testing.T, status int, body string) *client.Client {
	t.Helper()
	return serveBy(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// serveBy runs a server, and returns a client.
func serveBy(t *testing.T, handle http.HandlerFunc) *client.Client {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return must.Get(client.NewREST(client.RESTConfig{URL: s.URL + "/"}))(t)
}

func TestErrors(t *testing.T) {
	tests := []struct {
		status int
		body   string
		is     error
		text   string
	}{
		{400, `{"error": {"code": "BadRequest", "message": "m", "details": [{"path": "p", "message": "q"}]}}`, scheduler.ErrInvalid, "m"},
		{404, `{"error": {"code": "ResourceNotFound", "message": "job a/b: not found"}}`, scheduler.ErrNotFound, "job a/b: not found"},
		{409, `{"error": {"code": "Conflict", "message": "m"}}`, scheduler.ErrConflict, "m"},
		{503, `{"error": {"code": "ServiceUnavailable", "message": "m"}}`, scheduler.ErrUnavailable, "m"},
		{502, `<html>`, scheduler.ErrUnavailable, "SERVER/jobCollections/a/jobs/b answered 502 Bad Gateway"},
		{200, `"` + strings.Repeat("x", 64<<20) + `"`, nil, "SERVER: the answer is longer than 67108864 bytes, the most that is read; ask for less"},
		{200, `hello`, nil, "SERVER does not answer as Carillon does: invalid character 'h' looking for beginning of value"},
	}
	for _, test := range tests {
		c := serve(t, test.status, test.body)
		_, err := c.Get(t.Context(), scheduler.Key{Collection: "a", Job: "b"})
		want := test.text
		if rest, ok := cutServer(want); ok {
			want = c.URL() + rest
		}
		if err == nil || err.Error() != want {
			t.Errorf("%d %.100s: got %v, want %s", test.status, test.body, err, want)
		}
		for _, sentinel := range []error{scheduler.ErrInvalid, scheduler.ErrNotFound, scheduler.ErrConflict, scheduler.ErrUnavailable} {
			if errors.Is(err, sentinel) != errors.Is(test.is, sentinel) {
				t.Errorf("%d: %v is taken for %v, or not", test.status, err, sentinel)
			}
		}
		if problems, ok := errors.AsType[document.Problems](err); test.status == 400 && (!ok || problems[0] != document.Problem{Path: "p", Message: "q"}) {
			t.Errorf("details: got %v", problems)
		}
	}
}

func cutServer(s string) (string, bool) {
	const mark = "SERVER"
	if len(s) < len(mark) || s[:len(mark)] != mark {
		return s, false
	}
	return s[len(mark):], true
}

func TestUnreachable(t *testing.T) {
	c, err := client.NewREST(client.RESTConfig{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Collect(c.List(t.Context(), client.Query{Collection: "default"}), 0)
	if !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = client.Collect(c.List(ctx, client.Query{Collection: "default"}), 0); !errors.Is(err, context.Canceled) || errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("interrupted: got %v", err)
	}
}

func TestBadServer(t *testing.T) {
	for _, base := range []string{"", "localhost:8080", "ftp://host", "http://", "http://a b"} {
		if _, err := client.NewREST(client.RESTConfig{URL: base}); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%q: got %v", base, err)
		}
	}
}

// TestPages reads a list of 250 jobs, which comes in pages of at most 100.
func TestPages(t *testing.T) {
	c := serveBy(t, func(w http.ResponseWriter, r *http.Request) {
		var top, skip int
		_, _ = fmt.Sscan(r.URL.Query().Get("$top"), &top)
		_, _ = fmt.Sscan(r.URL.Query().Get("$skip"), &skip)
		_, _ = io.WriteString(w, `{"value": [`)
		for i := skip; i < min(skip+top, 250); i++ {
			if i > skip {
				_, _ = io.WriteString(w, ",")
			}
			_, _ = fmt.Fprintf(w, `{"name": "default/j%d", "properties": {"state": "enabled"}}`, i)
		}
		next := "null"
		if skip+top < 250 {
			next = fmt.Sprintf(`"http://elsewhere.example/jobs?$top=%d&$skip=%d"`, top, skip+top)
		}
		_, _ = io.WriteString(w, `], "nextLink": `+next+`}`)
	})
	jobs, err := client.Collect(c.List(t.Context(), client.Query{Collection: "default", State: scheduler.Enabled}), 0)
	if err != nil || len(jobs) != 250 || jobs[249].Name != "default/j249" || jobs[249].State != scheduler.Enabled {
		t.Errorf("got %d jobs, %v", len(jobs), err)
	}
}

// TestFollowGoesOn cuts a live tail off, and off again before it has told
// anything: it is taken up after the last record, until its job is deleted.
func TestFollowGoesOn(t *testing.T) {
	line := func(n int) string {
		return fmt.Sprintf(`{"name": "a/b/1:2", "properties": {"status": "Failed", "lateness": 0.25, "sequence": %d}}`+"\n", n)
	}
	var asked []string
	c := serveBy(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.URL.Query().Get("after")+r.URL.Query().Get("$skiptoken"))
		w.Header().Set("Carillon-Sequence", "7")
		w.Header().Set("Carillon-First-Sequence", []string{"8", "8", "8", "10", "11"}[len(asked)-1])
		switch len(asked) {
		case 1:
			_, _ = io.WriteString(w, "\n"+line(8)+line(9))
		case 2: // what precedes
			_, _ = io.WriteString(w, `{"value": [`+line(7)+`, `+line(5)+`], "nextLink": null}`)
		case 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 4:
			_, _ = io.WriteString(w, "\n")
		case 5:
			_, _ = io.WriteString(w, line(12)+`{"end": {"code": "ResourceNotFound", "message": "job a/b: gone"}}`+"\n")
		}
	})
	var got []uint64
	lost, missed := 0, ""
	err := c.Follow(t.Context(), client.Follow{
		HistoryQuery: client.HistoryQuery{Key: scheduler.Key{Collection: "a", Job: "b"}}, Last: 2,
		Record: func(r *client.Record) { got = append(got, r.Sequence) },
		Missed: func(after, first uint64) { missed += fmt.Sprint(after, "-", first) },
		Lost: func(err error) {
			lost++
			if !errors.Is(err, scheduler.ErrUnavailable) {
				t.Errorf("lost: %v", err)
			}
		},
	})
	var ended *client.EndedError
	if !errors.As(err, &ended) || ended.Message != "job a/b: gone" {
		t.Errorf("ended with %v", err)
	}
	if want := "[5 7 8 9 12]"; fmt.Sprint(got) != want || lost != 2 || missed != "9-11" {
		t.Errorf("got %v, want %s; lost %d times; may have missed %s", got, want, lost, missed)
	}
	const history = "/jobCollections/a/jobs/b/history "
	if want := []string{history, history + "8", history + "9", history + "9", history + "9"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

// TestFollowWithoutServer ends at once when there was no connection yet.
func TestFollowWithoutServer(t *testing.T) {
	for status, want := range map[int]error{503: scheduler.ErrUnavailable, 404: scheduler.ErrNotFound} {
		c := serve(t, status, `{"error": {"code": "c", "message": "m"}}`)
		if err := c.Follow(t.Context(), client.Follow{}); !errors.Is(err, want) {
			t.Errorf("%d: got %v", status, err)
		}
	}
	var got []*client.Record // of a server that cannot be asked again
	c := serve(t, 200, "\n"+`{"name": "a/b/1:2", "properties": {"status": "Failed", "lateness": 0.25}}`+"\n")
	err := c.Follow(t.Context(), client.Follow{Record: func(r *client.Record) { got = append(got, r) }})
	if len(got) != 1 || got[0].Job != "a/b" || got[0].Status != "Failed" || time.Duration(*got[0].Lateness) != 250*time.Millisecond {
		t.Errorf("got %+v", got)
	}
	if !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("the end of the server: got %v", err)
	}
}

// TestServerThatSpeaksFirst: a NATS server is told from a scheduler, however fast it greets, and nothing else is said.
func TestServerThatSpeaksFirst(t *testing.T) {
	l := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, "INFO {\"server_id\":\"N\"} \r\n")
				_, _ = io.Copy(io.Discard, c) // until the client ends it
			}()
		}
	}()
	var said bytes.Buffer
	log.SetOutput(&said)
	defer log.SetOutput(os.Stderr)
	for range 100 {
		c, err := client.NewREST(client.RESTConfig{URL: "http://" + l.Addr().String()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Collections(t.Context())
		if !errors.Is(err, scheduler.ErrUnavailable) || !strings.Contains(err.Error(), "a NATS server responds") {
			t.Fatal(err)
		}
	}
	if said.Len() > 0 {
		t.Error(said.String())
	}
}
