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
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// Query selects jobs.
type Query struct {
	Collection string          // "": all collections
	State      scheduler.State // "": any
	Labels     string          // [scheduler.ParseSelector]; "": any
	Prefix     string          // of job names
	Action     string          // its type, such as Http; "": any
	Target     string          // of the action: host:port, or a host for all of its ports; "": any
	NextAfter  string          // earliest next run: an instant (RFC 3339), or a duration from now; "": any
	NextBefore string          // the next run is earlier than this
	Text       string          // part of a name, a label or a target, in any letter case; "": any
	Outcome    string          // of the last run; "": any
}

// options returns the parameters of a list.
func (q *Query) options() url.Values {
	filter := ""
	if q.State != "" {
		filter = "state eq " + string(q.State)
	}
	options := url.Values{}
	for name, value := range map[string]string{
		"$filter": filter, "labelSelector": q.Labels, "prefix": q.Prefix, "actionType": q.Action, "target": q.Target,
		"nextAfter": q.NextAfter, "nextBefore": q.NextBefore, "text": q.Text, "lastOutcome": q.Outcome,
	} {
		if value != "" {
			options.Set(name, value)
		}
	}
	return options
}

// List returns jobs by collection and name. It fetches pages on demand and ends with the first error.
func (c *Client) List(ctx context.Context, q Query) iter.Seq2[*Job, error] {
	return pages[*Job](ctx, c, pathOf(scheduler.Key{Collection: q.Collection}, "/jobs"), q.options(), 0)
}

// Collect returns up to most entries of a list, 0: all. If the list fails, Collect returns the entries before the
// error, too.
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

// pages fetches the pages of a list, of size entries each; 0: the maximum.
func pages[T any](ctx context.Context, c *Client, path string, q url.Values, size int) iter.Seq2[T, error] {
	if size <= 0 || size > v1.MaxPage {
		size = v1.MaxPage
	}
	return func(yield func(T, error) bool) {
		var none T
		for q := q; q != nil; {
			q.Set("$top", strconv.Itoa(size))
			page, err := ask[v1.List[T]](ctx, c, http.MethodGet, path+"?"+q.Encode(), nil)
			if err != nil {
				yield(none, err)
				return
			}
			for _, one := range page.Value { // an empty page may have a successor
				if !yield(one, nil) {
					return
				}
			}
			if q, err = following(page.NextLink); err != nil {
				yield(none, err)
				return
			}
		}
	}
}

// following returns the parameters of the page in a nextLink; nil: no page follows. The link is a URL, whose host is
// ignored because of proxies, or over NATS the body of a request.
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
		if n, ok := value.(float64); ok { // at most an int32
			value = strconv.FormatFloat(n, 'f', -1, 64)
		}
		q.Set(name, fmt.Sprint(value))
	}
	return q, nil
}
