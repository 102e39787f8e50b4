package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/carillon-sched/carillon/cmd/carillon/client"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// serve runs a server that answers everything alike, and returns a client.
func serve(t *testing.T, status int, body string) *client.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	return c
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
			t.Errorf("%d %s: got %v, want %s", test.status, test.body, err, want)
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
	c, err := client.New("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.List(t.Context(), "default", "")
	if !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = c.List(ctx, "default", ""); !errors.Is(err, context.Canceled) || errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("interrupted: got %v", err)
	}
}

func TestBadServer(t *testing.T) {
	for _, base := range []string{"", "localhost:8080", "ftp://host", "http://", "http://a b"} {
		if _, err := client.New(base); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%q: got %v", base, err)
		}
	}
}

// TestPages reads a list of 250 jobs, which comes in pages of at most 100.
func TestPages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := c.List(t.Context(), "default", scheduler.Enabled)
	if err != nil || len(jobs) != 250 || jobs[249].Name != "default/j249" || jobs[249].State != scheduler.Enabled {
		t.Errorf("got %d jobs, %v", len(jobs), err)
	}
}

func TestFollow(t *testing.T) {
	c := serve(t, 200, "\n"+`{"name": "a/b/1:2", "properties": {"status": "Failed", "lateness": 0.25}}`+"\n")
	var got []*client.Record
	err := c.Follow(t.Context(), scheduler.Key{}, nil, func(r *client.Record) { got = append(got, r) })
	if len(got) != 1 || got[0].Job != "a/b" || got[0].Status != "Failed" || got[0].Lateness != 0.25 {
		t.Errorf("got %+v", got)
	}
	if !errors.Is(err, scheduler.ErrUnavailable) {
		t.Errorf("the end of the server: got %v", err)
	}
}
