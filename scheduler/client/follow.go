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

// Follow is a live tail that outlives its connections.
type Follow struct {
	HistoryQuery

	Last   int           // so many of the records that are there come first
	Record func(*Record) // is called for every record, in their order
	Lost   func(error)   // is called when the connection is lost; it is made again

	// Missed, unless it is nil, is called when the connection was made again too late: what was recorded after a sequence
	// and before first is not kept any more.
	Missed func(after, first uint64)

	// Begun, unless it is nil, is called when the first connection stands:
	// whatever is recorded from then on comes. Its error ends the tail.
	Begun func(ctx context.Context) error
}

// EndedError says that nothing more can come: the job was deleted.
type EndedError struct{ Message string }

// Error returns the message.
func (e *EndedError) Error() string { return e.Message }

// The bounds of a live tail.
const (
	silence      = 45 * time.Second // of a server that gives signs of life, after which it is taken for gone
	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second
)

// Follow follows a history until ctx is done, or nothing more can come
// ([EndedError]). When the connection is lost it is made again, and goes on
// after the last record that came, so that none is lost and none comes twice. An
// error of the first connection ends it.
func (c *Client) Follow(ctx context.Context, f Follow) error {
	t := &tail{client: c, follow: &f}
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := t.connect(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case t.place == nil: // there was no connection yet, or its server is too old to be asked again
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

// tail is where a live tail is.
type tail struct {
	client *Client
	follow *Follow
	place  *uint64 // the sequence after which it goes on; nil: from now on
	stood  bool    // the last connection
}

// connect follows until the connection is lost.
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

// begin takes the place at which the first connection begins, and reads what
// precedes it.
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

// read reads lines until there are no more.
func (t *tail) read(ctx context.Context, lines *bufio.Scanner, alive func()) error {
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		alive()
		if len(lines.Bytes()) == 0 { // a sign of life
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

// errSilent is why a connection is given up.
var errSilent = errors.New("the server gives no sign of life")
