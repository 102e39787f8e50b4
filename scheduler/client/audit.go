package client

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/audit"
)

// AuditQuery selects records of the audit log.
type AuditQuery struct {
	Key   scheduler.Key // a job; a collection and its jobs if Job is empty; everything if zero
	Kind  audit.Kind    // "": all
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
func (c *Client) Audit(ctx context.Context, q AuditQuery, most int) ([]*audit.Entry, error) {
	return Collect(pages[*audit.Entry](ctx, c, q.path(), q.values(), most), most)
}

// FollowAudit calls f for each new record of the audit log until ctx is done. After a lost connection it calls lost,
// reconnects, and resumes after the last received record. It returns the error of the first connection.
func (c *Client) FollowAudit(ctx context.Context, q AuditQuery, f func(*audit.Entry), lost func(error)) error {
	q.Until = time.Time{}
	t := &tail{client: c, path: q.path(), values: q.values(), lost: lost}
	t.take = func(line []byte) (uint64, error) {
		e := &audit.Entry{}
		if err := json.Unmarshal(line, e); err != nil {
			return 0, err
		}
		f(e)
		return e.Sequence, nil
	}
	return t.run(ctx)
}
