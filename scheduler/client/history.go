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
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// Record is a history record as the API returns it.
type Record struct {
	scheduler.RecordForm

	Sequence uint64          `json:"sequence"`
	Job      string          `json:"-"` // collection/job
	Document json.RawMessage `json:"-"` // the complete record
}

// UnmarshalJSON decodes a history document.
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

// HistoryQuery selects history records.
type HistoryQuery struct {
	scheduler.RecordFilter

	Key scheduler.Key // a job; a collection if Job is empty; all jobs if zero

	Page int // records per request, for callers that need few; 0: the maximum
}

// path returns the path of the selected records.
func (q *HistoryQuery) path() string { return pathOf(q.Key, "/history") }

// pathOf returns the path of a sub-resource of a job, of a collection if Job is empty, or of the scheduler if k is
// zero.
func pathOf(k scheduler.Key, what string) string {
	switch {
	case k.Job != "":
		return jobPath(k) + what
	case k.Collection != "":
		return collectionPath(k.Collection) + what
	}
	return what
}

// values returns the parameters of a request.
func (q *HistoryQuery) values() url.Values {
	v := url.Values{}
	if filter := v1.HistoryFilterText(&q.RecordFilter); filter != "" {
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

// History returns records, newest first. It fetches pages on demand and ends with the first error.
func (c *Client) History(ctx context.Context, q HistoryQuery) iter.Seq2[*Record, error] {
	return pages[*Record](ctx, c, q.path(), q.values(), q.Page)
}

// historyUpTo returns the newest records up to a sequence, up to most; oldest first.
func (c *Client) historyUpTo(ctx context.Context, q *HistoryQuery, sequence uint64, most int) ([]*Record, error) {
	v := q.values()
	v.Set("$skiptoken", strconv.FormatUint(sequence+1, 10))
	records, err := Collect(pages[*Record](ctx, c, q.path(), v, most), most)
	slices.Reverse(records)
	return records, err
}
