package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/trail"
)

// AuditQuery selects records of the audit log.
type AuditQuery struct {
	Key   scheduler.Key // a job; a collection and its jobs if Job is empty; everything if zero
	Kind  trail.Kind    // "": all
	Who   string        // "": any caller
	Op    string        // "": all
	Since time.Time     // inclusive
	Until time.Time     // inclusive; zero: no bound
}

// path returns the path of the selected records.
func (q *AuditQuery) path() string { return pathOf(q.Key, "/audit") }

// values returns the parameters of a request.
func (q *AuditQuery) values() url.Values {
	v := url.Values{}
	for name, text := range map[string]string{"kind": string(q.Kind), "who": q.Who, "op": q.Op} {
		if text != "" {
			v.Set(name, text)
		}
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			v.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	return v
}

// Audit returns the newest records of the audit log, up to most; newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery, most int) ([]*trail.Entry, error) {
	return Collect(pages[*trail.Entry](ctx, c, q.path(), q.values(), most), most)
}

// FollowAudit calls f for each new record of the audit log until ctx is done. After a lost connection it calls lost,
// reconnects, and resumes after the last received record. It returns the error of the first connection.
func (c *Client) FollowAudit(ctx context.Context, q AuditQuery, f func(*trail.Entry), lost func(error)) error {
	q.Until = time.Time{}
	var place string // resume after this position; "": never connected
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		stood, err := c.tailAudit(ctx, &q, &place, f)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case place == "" || !errors.Is(err, scheduler.ErrUnavailable):
			return err
		}
		if stood {
			pause = firstPause
			lost(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tailAudit follows the log until the connection is lost. stood reports whether a connection was established.
func (c *Client) tailAudit(ctx context.Context, q *AuditQuery, place *string, f func(*trail.Entry)) (stood bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	v := q.values()
	v.Set("follow", "true")
	if *place != "" {
		v.Set("after", *place)
	}
	resp, err := c.send(ctx, http.MethodGet, q.path()+"?"+v.Encode(), nil)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if *place == "" {
		*place = resp.Header.Get("Carillon-Sequence")
	}
	watchdog := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer watchdog.Stop()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		watchdog.Reset(silence)
		if len(lines.Bytes()) == 0 { // a keepalive
			continue
		}
		e := &trail.Entry{}
		if err := json.Unmarshal(lines.Bytes(), e); err != nil {
			return true, fmt.Errorf("%s sent a line that is no audit record: %w", c.server, err)
		}
		*place = strconv.FormatUint(e.Sequence, 10)
		f(e)
	}
	if err := lines.Err(); err != nil && !errors.Is(context.Cause(ctx), errSilent) {
		return true, &UnreachableError{c.server, err}
	}
	if err := context.Cause(ctx); err != nil {
		return true, &UnreachableError{c.server, err}
	}
	return true, &UnreachableError{c.server, errEnded}
}
