package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/flow"
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
	t := &tail{client: c, path: f.path(), values: f.values(), lost: f.Lost, missed: f.Missed}
	t.begun = func(ctx context.Context, place uint64) error {
		if f.Last > 0 {
			records, err := c.historyUpTo(ctx, &f.HistoryQuery, place, f.Last)
			if err != nil {
				return err
			}
			for _, r := range records {
				f.Record(r)
			}
		}
		if f.Begun == nil {
			return nil
		}
		return f.Begun(ctx)
	}
	t.take = func(line []byte) (uint64, error) {
		r := &Record{}
		if err := json.Unmarshal(line, r); err != nil {
			return 0, err
		}
		f.Record(r)
		return r.Sequence, nil
	}
	return t.run(ctx)
}

// tail is a live tail of a history or of the audit log.
type tail struct {
	client *Client
	path   string
	values url.Values // select the records
	place  *uint64    // resume after this sequence; nil: never connected
	stood  bool       // the last connection was established

	begun  func(ctx context.Context, place uint64) error // after the first connection is established; nil: no-op
	take   func(line []byte) (sequence uint64, err error)
	lost   func(error)
	missed func(after, first uint64) // nil: no-op
}

// run follows the tail until it ends, and reconnects.
func (t *tail) run(ctx context.Context) error {
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
			t.lost(err)
		}
		if !flow.Pause(ctx, pause) {
			return context.Cause(ctx)
		}
	}
}

// connect receives records until the connection is lost.
func (t *tail) connect(ctx context.Context) error {
	t.stood = false
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.values.Set("follow", "true")
	if t.place != nil {
		t.values.Set("after", strconv.FormatUint(*t.place, 10))
	}
	resp, err := t.client.send(ctx, http.MethodGet, t.path+"?"+t.values.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	t.stood = true
	first, err := strconv.ParseUint(resp.Header.Get(firstHeader), 10, 64)
	if err == nil && t.place != nil && *t.place+1 < first && t.missed != nil {
		t.missed(*t.place, first)
	}
	alive := func() {}
	if place, err := strconv.ParseUint(resp.Header.Get(sequenceHeader), 10, 64); err == nil {
		if t.place == nil && t.begun != nil {
			if err := t.begun(ctx, place); err != nil {
				return err
			}
		}
		if t.place == nil {
			t.place = &place
		}
		watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
		defer watchdog.Stop()
		alive = func() { watchdog.Reset(silence) }
	}
	return t.read(ctx, bufio.NewScanner(resp.Body), alive)
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
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line.End != nil {
			return &EndedError{line.End.Message}
		}
		sequence, err := t.take(lines.Bytes())
		if err != nil {
			return fmt.Errorf("%s sent a line that is not a record: %w", t.client.server, err)
		}
		if t.place != nil && sequence > 0 {
			t.place = &sequence
		}
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
var errSilent = errors.New("the server does not respond")
