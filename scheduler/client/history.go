package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Record is a line of a history as the API shows it.
type Record struct {
	scheduler.RecordForm

	Sequence uint64          `json:"sequence"`
	Job      string          `json:"-"` // collection/job
	Document json.RawMessage `json:"-"` // all of it
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

// HistoryQuery says which records are asked for.
type HistoryQuery struct {
	scheduler.RecordFilter

	Key scheduler.Key // of a job; of a collection when Job is empty; of all jobs when it is the zero Key

	Page int // how many are asked for at once, for those who take only a few; 0: as many as may be
}

// path is where these records are.
func (q *HistoryQuery) path() string { return pathOf(q.Key, "/history") }

// pathOf is where something is that a job has, a collection when Job is empty, and the whole scheduler when k is the zero Key.
func pathOf(k scheduler.Key, what string) string {
	switch {
	case k.Job != "":
		return jobPath(k) + what
	case k.Collection != "":
		return "/jobCollections/" + url.PathEscape(k.Collection) + what
	}
	return what
}

// values are the parameters of a request.
func (q *HistoryQuery) values() url.Values {
	v := url.Values{}
	if filter := view.HistoryFilterText(&q.RecordFilter); filter != "" {
		v.Set("$filter", filter)
	}
	if q.UID != "" {
		v.Set("uid", q.UID)
	}
	if q.Earlier {
		v.Set("earlier", "true")
	}
	return v
}

// History returns records, newest first, page after page as they are taken. The
// first error ends it.
func (c *Client) History(ctx context.Context, q HistoryQuery) iter.Seq2[*Record, error] {
	return pages[*Record](ctx, c, q.path(), q.values(), q.Page)
}

// historyUpTo returns the newest records up to a sequence, at most most; oldest
// first.
func (c *Client) historyUpTo(ctx context.Context, q *HistoryQuery, sequence uint64, most int) ([]*Record, error) {
	v := q.values()
	v.Set("$skiptoken", strconv.FormatUint(sequence+1, 10))
	records, err := Collect(pages[*Record](ctx, c, q.path(), v, most), most)
	slices.Reverse(records)
	return records, err
}
