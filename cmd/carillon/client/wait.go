package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Ended is a step of a run by hand on its way to the end.
type Ended struct {
	Job       scheduler.Key
	Record    *Record // of an attempt, or of the end; nil: Err says why there is none
	Last      bool    // nothing follows
	Completed bool    // and it did what it was asked to
	Err       error
}

// StartRun runs a job now and returns the id of the occurrence.
func (c *Client) StartRun(ctx context.Context, k scheduler.Key) (occurrence string, err error) {
	var started struct {
		Occurrence string `json:"occurrence"`
	}
	_, err = c.call(ctx, http.MethodPost, jobPath(k)+"/run", nil, &started)
	return started.Occurrence, err
}

// RunAndWait runs a job now, and tells of every record of that run until its last one, or of an error that ends the wait.
// The run goes on when ctx is done. A server that goes away meanwhile is waited for.
func (c *Client) RunAndWait(ctx context.Context, k scheduler.Key, tell func(Ended)) {
	w := wait{client: c, key: k, tell: tell, seen: map[string]bool{}}
	tail, err := c.tail(ctx, k) // first, so that no record is missed
	if err == nil {
		w.occurrence, err = c.StartRun(ctx, k)
		if err != nil {
			_ = tail.Body.Close()
		}
	}
	if err != nil {
		tell(Ended{Job: k, Last: true, Err: err})
		return
	}
	for over := w.follow(tail); !over; {
		if over, err = w.again(ctx); err != nil {
			tell(Ended{Job: k, Last: true, Err: err})
			return
		}
	}
}

// wait is the wait for an occurrence.
type wait struct {
	client     *Client
	key        scheduler.Key
	occurrence string
	tell       func(Ended)
	seen       map[string]bool // ids of the records that were told
}

// tail opens the live tail of a job. What is recorded after it returns comes.
func (c *Client) tail(ctx context.Context, k scheduler.Key) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, jobPath(k)+"/history?follow=true", nil)
}

// follow tells of records until the last one, or until the tail ends, also with the context it was opened with.
func (w *wait) follow(tail *http.Response) (over bool) {
	defer tail.Body.Close()
	lines := bufio.NewScanner(tail.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r := &Record{}
		if len(lines.Bytes()) == 0 || json.Unmarshal(lines.Bytes(), r) != nil {
			continue
		}
		if w.take(r) {
			return true
		}
	}
	return false
}

// take tells of a record of the occurrence, once, and reports whether it is the last one.
func (w *wait) take(r *Record) bool {
	var doc struct {
		ID         string `json:"id"`
		Properties struct {
			Occurrence string `json:"occurrence"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(r.Document, &doc) // it was read as a record before
	if doc.Properties.Occurrence != w.occurrence || w.seen[doc.ID] {
		return false
	}
	w.seen[doc.ID] = true
	completed := isOutcome(r, scheduler.OutcomeCompleted) && r.Action == "MainAction"
	last := completed || isOutcome(r, scheduler.OutcomeFaulted)
	w.tell(Ended{Job: w.key, Record: r, Last: last, Completed: completed})
	return last
}

func isOutcome(r *Record, o scheduler.Outcome) bool { return strings.EqualFold(r.Status, string(o)) }

// between is the pause before a server that went away is asked again.
const between = 500 * time.Millisecond

// again opens the tail again, tells of what was recorded meanwhile, and follows.
func (w *wait) again(ctx context.Context) (over bool, err error) {
	for {
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		tail, err := w.client.tail(ctx, w.key)
		if errors.Is(err, scheduler.ErrUnavailable) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return false, err
		}
		if over, err := w.missed(ctx); over || err != nil {
			_ = tail.Body.Close()
			return over, err
		}
		return w.follow(tail), nil
	}
}

// missed tells of the records that are in the history.
func (w *wait) missed(ctx context.Context) (over bool, err error) {
	records, err := w.client.History(ctx, w.key, nil, pageSize)
	if errors.Is(err, scheduler.ErrUnavailable) && ctx.Err() == nil {
		return false, nil // the tail will end, too
	}
	for _, r := range slices.Backward(records) {
		if w.take(r) {
			return true, nil
		}
	}
	return false, err
}
