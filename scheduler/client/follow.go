package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Follow is a live tail that survives lost connections.
type Follow struct {
	HistoryQuery

	Last   int           // deliver this many existing records first
	Record func(*Record) // receives each record, in order
	Lost   func(error)   // receives the error of each lost connection, before the reconnect

	// Missed is called if a reconnect was too late: the history no longer retains the records after a sequence and
	// before first. Default: no-op.
	Missed func(after, first uint64)

	// Begun is called after the first connection is established. All later records are delivered. An error ends the
	// tail. Default: no-op.
	Begun func(ctx context.Context) error
}

// EndedError reports that the job was deleted, so that its live tail has ended.
type EndedError struct{ Message string }

// Error returns the message.
func (e *EndedError) Error() string { return e.Message }

// Limits of a live tail.
const (
	silence      = 45 * time.Second // of the server, including keepalives, before the connection is considered lost
	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second
)

// Follow follows a history until ctx is done or the job is deleted ([EndedError]). It reconnects after a lost
// connection and resumes after the last received record, without loss or duplicates. It returns the error of the first
// connection.
func (c *Client) Follow(ctx context.Context, f Follow) error {
	t := &tail{client: c, follow: &f}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := t.connect(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case t.place == nil: // never connected, or the server is too old to support a resume
			return err
		case errors.Is(err, scheduler.ErrNotFound):
			return &EndedError{err.Error()}
		case !errors.Is(err, scheduler.ErrUnavailable):
			return err
		}
		if t.stood {
			pause = firstPause
			f.Lost(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tail is the state of a live tail.
type tail struct {
	client *Client
	follow *Follow
	place  *uint64 // resume after this sequence; nil: only new records
	stood  bool    // the last connection was established
}

// connect follows the history until the connection is lost.
func (t *tail) connect(ctx context.Context) error {
	t.stood = false
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q := t.follow.values()
	q.Set("follow", "true")
	if t.place != nil {
		q.Set("after", strconv.FormatUint(*t.place, 10))
	}
	resp, err := t.client.send(ctx, http.MethodGet, t.follow.path()+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	t.stood = true
	first, err := strconv.ParseUint(resp.Header.Get("Carillon-First-Sequence"), 10, 64)
	if err == nil && t.place != nil && *t.place+1 < first && t.follow.Missed != nil {
		t.follow.Missed(*t.place, first)
	}
	alive := func() {}
	if place, err := strconv.ParseUint(resp.Header.Get("Carillon-Sequence"), 10, 64); err == nil {
		if err := t.begin(ctx, place); err != nil {
			return err
		}
		watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
		defer watchdog.Stop()
		alive = func() { watchdog.Reset(silence) }
	}
	return t.read(ctx, bufio.NewScanner(resp.Body), alive)
}

// begin stores the start of the first connection and reads the records before it.
func (t *tail) begin(ctx context.Context, place uint64) error {
	if t.place != nil {
		return nil
	}
	if t.follow.Last > 0 {
		records, err := t.client.historyUpTo(ctx, &t.follow.HistoryQuery, place, t.follow.Last)
		if err != nil {
			return err
		}
		for _, r := range records {
			t.follow.Record(r)
		}
	}
	if t.follow.Begun != nil {
		if err := t.follow.Begun(ctx); err != nil {
			return err
		}
	}
	t.place = &place
	return nil
}

// read reads lines until the connection ends.
func (t *tail) read(ctx context.Context, lines *bufio.Scanner, alive func()) error {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		alive()
		if len(lines.Bytes()) == 0 { // a keepalive
			continue
		}
		var line struct {
			End *struct {
				Message string `json:"message"`
			} `json:"end"`
		}
		r := &Record{}
		if err := errors.Join(json.Unmarshal(lines.Bytes(), &line), json.Unmarshal(lines.Bytes(), r)); line.End == nil && err != nil {
			return fmt.Errorf("%s sent a line that is no history record: %w", t.client.server, err)
		}
		if line.End != nil {
			return &EndedError{line.End.Message}
		}
		if t.place != nil && r.Sequence > 0 {
			t.place = &r.Sequence
		}
		t.follow.Record(r)
	}
	err := context.Cause(ctx)
	switch {
	case errors.Is(err, errSilent):
	case err != nil:
		return err
	default:
		err = cmp.Or(lines.Err(), errEnded)
	}
	return &UnreachableError{t.client.server, err}
}

// errSilent closes a connection without keepalives.
var errSilent = errors.New("the server gives no sign of life")
