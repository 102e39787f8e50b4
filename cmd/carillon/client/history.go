package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Record is a line of a history as the API shows it: see
// [scheduler.Record.Document].
type Record struct {
	Job      string          `json:"-"` // collection/job
	Document json.RawMessage `json:"-"` // all of it

	Status   string    `json:"status"`
	Action   string    `json:"actionName"`
	Started  time.Time `json:"startTime"`
	Ended    time.Time `json:"endTime"`
	Lateness float64   `json:"lateness"` // seconds
	Duration float64   `json:"duration"` // seconds
	Retry    int       `json:"retryCount"`
	Code     int       `json:"statusCode"`
	Message  string    `json:"message"`
	Manual   bool      `json:"manual"`
	Reason   string    `json:"reason"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	Count    int       `json:"count"`
	GivenUp  time.Time `json:"faultedTime"` // of a faulted occurrence
}

// UnmarshalJSON reads a history document.
func (r *Record) UnmarshalJSON(data []byte) error {
	var doc resource // its name is collection/job/id
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	type plain Record
	var p plain
	if err := json.Unmarshal(doc.Properties, &p); err != nil {
		return err
	}
	*r = Record(p)
	if i := strings.LastIndexByte(doc.Name, '/'); i >= 0 {
		r.Job = doc.Name[:i]
	}
	r.Document = append(json.RawMessage(nil), data...)
	return nil
}

// History returns the newest records of a job, at most most, with one of the
// outcomes when any are given; newest first.
func (c *Client) History(ctx context.Context, k scheduler.Key, outcomes []scheduler.Outcome, most int) ([]*Record, error) {
	return all[*Record](ctx, c, jobPath(k)+"/history", filter(outcomes), most)
}

func filter(outcomes []scheduler.Outcome) url.Values {
	terms := make([]string, len(outcomes))
	for i, o := range outcomes {
		terms[i] = "status eq " + string(o)
	}
	q := url.Values{}
	if len(terms) > 0 {
		q.Set("$filter", strings.Join(terms, " or "))
	}
	return q
}

// Follow calls f for every record that is written from now on and has one of
// the outcomes, when any are given: of the job k, of a collection when k.Job is
// empty, or of all jobs when k is the zero Key. It ends with ctx, or when the
// server does.
func (c *Client) Follow(ctx context.Context, k scheduler.Key, outcomes []scheduler.Outcome, f func(*Record)) error {
	path := "/history"
	switch {
	case k.Job != "":
		path = jobPath(k) + path
	case k.Collection != "":
		path = "/jobCollections/" + url.PathEscape(k.Collection) + path
	}
	q := filter(outcomes)
	q.Set("follow", "true")
	resp, err := c.send(ctx, http.MethodGet, path+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 { // a sign of life
			continue
		}
		r := &Record{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return fmt.Errorf("%s sent a line that is no history record: %w", c.base, err)
		}
		f(r)
	}
	if err := lines.Err(); err != nil {
		return unreachable(ctx, c.base, err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &UnreachableError{c.base, errEnded}
}
