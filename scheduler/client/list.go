package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Query says which jobs are wanted.
type Query struct {
	Collection string          // "": of all collections
	State      scheduler.State // "": in any
	Labels     string          // [scheduler.ParseSelector]; "": with whatever labels
	Prefix     string          // of their names
	Action     string          // its type, such as Http; "": of any
	NextAfter  string          // the next run is then or later: an instant (RFC 3339), or a length of time from now on; "": whenever
	NextBefore string          // and before that
	Text       string          // in a name, a label or a target, in any letter case; "": whatever these are
	Outcome    string          // how what it did last ended; "": however
}

// options are what a list is asked for.
func (q *Query) options() url.Values {
	filter := ""
	if q.State != "" {
		filter = "state eq " + string(q.State)
	}
	options := url.Values{}
	for name, value := range map[string]string{
		"$filter": filter, "labelSelector": q.Labels, "prefix": q.Prefix, "actionType": q.Action,
		"nextAfter": q.NextAfter, "nextBefore": q.NextBefore, "text": q.Text, "lastOutcome": q.Outcome,
	} {
		if value != "" {
			options.Set(name, value)
		}
	}
	return options
}

// List returns jobs by collection and name, page after page as they are taken. The
// first error ends it.
func (c *Client) List(ctx context.Context, q Query) iter.Seq2[*Job, error] {
	path := "/jobs"
	if q.Collection != "" {
		path = "/jobCollections/" + url.PathEscape(q.Collection) + "/jobs"
	}
	return pages[*Job](ctx, c, path, q.options(), 0)
}

// Collect takes things from a list, no more than most; all when that is 0. The error is
// the list's; what came before it is returned with it.
func Collect[T any](list iter.Seq2[T, error], most int) ([]T, error) {
	var all []T
	for one, err := range list {
		if err != nil {
			return all, err
		}
		if all = append(all, one); len(all) == most {
			break
		}
	}
	return all, nil
}

// pages reads page after page of a list, of size entries each; 0: as large as they
// may be.
func pages[T any](ctx context.Context, c *Client, path string, q url.Values, size int) iter.Seq2[T, error] {
	if size <= 0 || size > view.MaxPage {
		size = view.MaxPage
	}
	return func(yield func(T, error) bool) {
		var none T
		for q := q; q != nil; {
			q.Set("$top", strconv.Itoa(size))
			var page struct {
				Value    []T     `json:"value"`
				NextLink *string `json:"nextLink"`
			}
			if _, err := c.call(ctx, http.MethodGet, path+"?"+q.Encode(), nil, &page); err != nil {
				yield(none, err)
				return
			}
			for _, one := range page.Value { // a page may be empty, and another one follow
				if !yield(one, nil) {
					return
				}
			}
			var err error
			if q, err = following(page.NextLink); err != nil {
				yield(none, err)
				return
			}
		}
	}
}

// following are the parameters of the page that a nextLink asks for; nil: there is
// none. It is a URL, whose host does not matter, as there may be a proxy in between;
// or, over NATS, the body of a request.
func following(link *string) (url.Values, error) {
	if link == nil {
		return nil, nil //nolint:nilnil // no page follows
	}
	next, err := url.Parse(*link)
	if err == nil && next.RawQuery != "" {
		return next.Query(), nil
	}
	var body map[string]any
	if failed := json.Unmarshal([]byte(*link), &body); failed != nil {
		return nil, fmt.Errorf("%w: the server names no next page: %w", scheduler.ErrUnavailable, errors.Join(err, failed))
	}
	q := url.Values{}
	for name, value := range body {
		if n, ok := value.(float64); ok { // of at most an int32
			value = strconv.FormatFloat(n, 'f', -1, 64)
		}
		q.Set(name, fmt.Sprint(value))
	}
	return q, nil
}
