package rest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// event is a server-sent event, read as a browser reads it (HTML, "Interpreting an event stream").
type event struct {
	id, kind, data string
}

// message is the message of the event's record.
func (e event) message() string {
	var doc entry
	if err := json.Unmarshal([]byte(e.data), &doc); err != nil {
		return err.Error()
	}
	return fmt.Sprint(doc.Properties["message"])
}

// source is a client of server-sent events.
type source struct {
	w     *harness
	path  string
	last  string // the id that it has now, with which it comes again
	retry string

	lines *bufio.Scanner
	end   context.CancelFunc
}

// open connects as a browser does: with the id of the last event, if there was one.
func (s *source) open() {
	s.w.t.Helper()
	headers := []string{"Accept: text/event-stream"}
	if s.last != "" {
		headers = append(headers, "Last-Event-ID: "+s.last)
	}
	tail := s.w.stream(strings.ReplaceAll(s.path, " ", "%20"), headers...)
	if tail.status != http.StatusOK || tail.header.Get("Content-Type") != "text/event-stream" || tail.header.Get("Cache-Control") != "no-store" {
		s.w.t.Fatalf("%s: %d %v", s.path, tail.status, tail.header)
	}
	s.lines, s.end = bufio.NewScanner(tail.body), tail.end
}

// next waits for the next event, and returns io.EOF when there are no more.
func (s *source) next() (e event, err error) {
	s.w.t.Helper()
	stuck := time.AfterFunc(patience, s.end)
	defer stuck.Stop()
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case s.lines.Text() == "" && e.data != "":
			e.id = s.last
			return e, nil
		case s.lines.Text() == "":
			e = event{}
		case field == "id":
			s.last = value
		case field == "event":
			e.kind = value
		case field == "data":
			e.data += value
		case field == "retry":
			s.retry = value
		}
	}
	return event{}, errors.Join(io.EOF, s.lines.Err())
}

// mustGet waits for records of these messages.
func (s *source) mustGet(messages ...string) {
	s.w.t.Helper()
	for _, want := range messages {
		e, err := s.next()
		page := s.w.do(http.MethodGet, "/history", "").body // an event has the record as a page has it
		if err != nil || e.kind != "" || e.message() != want || !strings.Contains(page, e.data) {
			s.w.t.Fatalf("%s: got %+v, %v, want %s", s.path, e, err, want)
		}
	}
}

// TestEvents: a live tail as server-sent events: each record with its sequence as its id, and with its place before the
// first one; filters apply, and it ends with an event when the job is deleted.
func TestEvents(t *testing.T) {
	w := newHarness(t)
	const path = "/jobCollections/default/jobs/job"
	w.must(http.MethodPut, path, later)
	uid := w.incarnation("job")
	w.record("job", uid, scheduler.OutcomeCompleted, 0)
	all := &source{w: w, path: path + "/history"}
	all.open()
	failed := &source{w: w, path: "/history?follow=true&$filter=status eq failed&as=sse"}
	failed.open()
	after := &source{w: w, path: "/jobCollections/default/history?after=0"}
	after.open()
	w.record("job", uid, scheduler.OutcomeCompleted, 1)
	w.record("job", uid, scheduler.OutcomeFailed, 2)
	all.mustGet("1", "2")
	failed.mustGet("2")
	after.mustGet("0", "1", "2")
	for _, s := range []*source{all, failed, after} {
		if s.last != "3" || s.retry != "2000" {
			t.Errorf("%s: id %s, retry %s", s.path, s.last, s.retry)
		}
	}
	w.must(http.MethodDelete, path, "")
	e, err := all.next()
	if err != nil || e.kind != "end" || !strings.Contains(e.data, `"code":"ResourceNotFound"`) || !strings.Contains(e.data, "it was deleted") {
		t.Errorf("the end: %+v, %v", e, err)
	}
	if e, err := all.next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %+v, %v", e, err)
	}
	if r := w.do(http.MethodGet, path+"/history", "", "Accept: text/event-stream", "Last-Event-ID: 3"); r.status != http.StatusNotFound {
		t.Errorf("it can be followed again: %+v", r)
	}
}

// TestEventsAreRefused: what is no token, no form, or no live tail.
func TestEventsAreRefused(t *testing.T) {
	w := newHarness(t)
	for _, test := range []struct{ query, header, want string }{
		{"?follow=true", "Last-Event-ID: soon", `"Last-Event-ID"`},
		{"?follow=true&as=xml", "Accept: */*", `"as"`},
		{"?as=sse", "Accept: */*", `"as"`},
		{"?after=1", "Accept: application/json", `"after"`},
		{"?$top=3", "Accept: text/event-stream", `"$top"`},
		{"?follow=true&after=99", "Accept: application/json", `"after"`},
	} {
		if r := w.do(http.MethodGet, "/history"+test.query, "", test.header); r.status != http.StatusBadRequest || !strings.Contains(r.body, `"path":`+test.want) {
			t.Errorf("%+v: %d %s", test, r.status, r.body)
		}
	}
	if r := w.do(http.MethodGet, "/history?follow=false", "", "Accept: text/event-stream"); r.status != http.StatusOK || !strings.Contains(r.body, `"value"`) {
		t.Errorf("a page: %+v", r)
	}
}

// TestEventsResumeAcrossRestarts breaks a live tail off again and again, by ending the server, the scheduler, or the
// connection, while records are stored: with the id of its last event, the next one misses and repeats nothing.
func TestEventsResumeAcrossRestarts(t *testing.T) {
	w := newWorldIn(t, jetstream.FileStorage)
	const path = "/jobCollections/default/jobs/job"
	w.must(http.MethodPut, path, later)
	uid := w.incarnation("job")
	var got, want []string
	stored := 0
	store := func(n int) {
		for range n {
			w.record("job", uid, scheduler.OutcomeCompleted, stored)
			want = append(want, strconv.Itoa(stored))
			stored++
		}
	}
	s := &source{w: w, path: path + "/history?follow=true&after=0"}
	for round := range 6 {
		s.open()
		store(5)
		for range 3 + round { // some were not read yet, or not even sent
			e := must.Get(s.next())(t)
			got = append(got, e.message())
			if len(got) == len(want) {
				break
			}
		}
		if round%2 == 0 {
			w.restart()
		} else {
			s.end()
		}
		store(2)
	}
	s.open()
	for len(got) < len(want) {
		e := must.Get(s.next())(t)
		got = append(got, e.message())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestEventsTellGaps: a token of what is not kept any more, and one of a history that was lost, are told by an event.
func TestEventsTellGaps(t *testing.T) {
	w := newHarness(t)
	w.must(http.MethodPut, "/jobCollections/default/jobs/job", later)
	uid := w.incarnation("job")
	for i := range 9 {
		w.record("job", uid, scheduler.OutcomeCompleted, i)
	}
	js := must.Get(jetstream.New(w.nc))(t)
	stream := must.Get(js.Stream(t.Context(), "CARILLON_HISTORY"))(t)
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSequence(6)); err != nil { // 6 is kept
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		"2":  `{"after":2,"first":6,"last":9,"message":"what was recorded after 2 and before 6 is not kept any more"}`,
		"5":  "",
		"0":  "",
		"99": `{"after":99,"first":6,"last":9,"message":"the last record is 9: 99 is of a history that was lost, and the tail continues from now"}`,
	} {
		s := &source{w: w, path: "/history", last: token}
		s.open()
		if want != "" {
			if e, err := s.next(); err != nil || e.kind != "gap" || e.data != want {
				t.Errorf("%s: %+v, %v", token, e, err)
			}
		}
		if token != "99" {
			s.mustGet("5", "6", "7", "8")
		} else if s.last != "9" {
			t.Errorf("it goes on after %s", s.last)
		}
		s.end()
	}
}
