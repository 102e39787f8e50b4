package awx

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// Query selects, orders and pages the schedules of a list.
type Query struct {
	filters    []filter
	order      []comparison
	page, size int
	byNext     bool // the order depends on the next instants
}

type (
	filter     func(s *Schedule) bool
	comparison func(a, b *Schedule) int
)

// AWX's page sizes.
const (
	defaultPageSize = 25
	maxPageSize     = 200
)

// ReadQuery parses the parameters of a list: page and page_size; the filters id, name, name__icontains, enabled,
// unified_job_template and search; order_by with field names, each with a - for descending order. The error is AWX's
// message for an unknown field.
func ReadQuery(q url.Values) (Query, error) {
	query := Query{page: 1, size: defaultPageSize}
	for name, texts := range q {
		text := texts[len(texts)-1]
		switch name {
		case "page":
			query.page, _ = strconv.Atoi(text) // a page that is not a number is invalid
		case "page_size":
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				query.size = min(n, maxPageSize)
			}
		case "order_by":
			for field := range strings.SplitSeq(text, ",") {
				by, ok := ordered(strings.TrimSpace(field))
				if !ok {
					return query, unknownField(field)
				}
				query.order, query.byNext = append(query.order, by), query.byNext || strings.Contains(field, "next_run")
			}
		case "format", "count_disabled", "no_truncate": // of AWX's own pages
		default:
			f, err := filterOf(name, text)
			if err != nil {
				return query, err
			}
			query.filters = append(query.filters, f)
		}
	}
	query.order = append(query.order, func(a, b *Schedule) int { return cmp.Compare(a.ID, b.ID) })
	return query, nil
}

// QueryError is an error in the parameters of a list, in AWX's words.
type QueryError string

// Error returns the message.
func (e QueryError) Error() string { return string(e) }

func unknownField(name string) error {
	return QueryError("Schedule has no field named '" + strings.TrimPrefix(name, "-") + "'")
}

func filterOf(name, text string) (filter, error) {
	contains := func(whole string) bool { return strings.Contains(strings.ToLower(whole), strings.ToLower(text)) }
	switch name {
	case "name":
		return func(s *Schedule) bool { return s.Name == text }, nil
	case "name__icontains":
		return func(s *Schedule) bool { return contains(s.Name) }, nil
	case "search":
		return func(s *Schedule) bool { return contains(s.Name) || contains(s.Description) }, nil
	case "id":
		return func(s *Schedule) bool { return strconv.Itoa(s.ID) == text }, nil
	case "enabled":
		on, err := strconv.ParseBool(strings.ToLower(text))
		if err != nil {
			return nil, QueryError("Value '" + text + "' is neither true nor false")
		}
		return func(s *Schedule) bool { return s.Enabled == on }, nil
	case "unified_job_template":
		k, err := TemplateKey(text)
		return func(s *Schedule) bool { return err == nil && s.Template == k.String() }, nil
	}
	return nil, unknownField(name)
}

// ordered returns the order by a field.
func ordered(field string) (comparison, bool) {
	name, reverse := strings.CutPrefix(field, "-")
	by, ok := map[string]comparison{
		"id":       func(a, b *Schedule) int { return cmp.Compare(a.ID, b.ID) },
		"name":     func(a, b *Schedule) int { return strings.Compare(a.Name, b.Name) },
		"created":  func(a, b *Schedule) int { return a.Created.Compare(b.Created) },
		"modified": func(a, b *Schedule) int { return a.Modified.Compare(b.Modified) },
		"next_run": func(a, b *Schedule) int { return timeOf(a.Next).Compare(timeOf(b.Next)) },
	}[name]
	if reverse && ok {
		return func(a, b *Schedule) int { return by(b, a) }, true
	}
	return by, ok
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// List is a page of schedules as AWX shows it.
type List struct {
	Count    int        `json:"count"` // on all pages
	Next     *string    `json:"next"`  // path and parameters of the next page; null: none
	Previous *string    `json:"previous"`
	Results  []Schedule `json:"results"`
}

// listed is a schedule of a list, with its job.
type listed struct {
	Schedule

	job *scheduler.Job
}

// Page returns the requested page of the schedules of jobs at time now; ok is false if the page does not exist. u is
// the request URL. Instants are computed only for schedules on the page, unless the order depends on them. The error is
// ctx's.
func (q Query) Page(ctx context.Context, jobs []*scheduler.Job, now time.Time, u *url.URL) (page List, ok bool, err error) {
	var all []listed
	for _, j := range jobs {
		s := brief(j)
		if slices.ContainsFunc(q.filters, func(f filter) bool { return !f(&s) }) {
			continue
		}
		if q.byNext {
			s.Next = next(j, now)
		}
		if err := ctx.Err(); err != nil {
			return List{}, false, err
		}
		all = append(all, listed{s, j})
	}
	slices.SortFunc(all, func(a, b listed) int {
		for _, by := range q.order {
			if c := by(&a.Schedule, &b.Schedule); c != 0 {
				return c
			}
		}
		return 0
	})
	pages := max(1, (len(all)+q.size-1)/q.size)
	if q.page < 1 || q.page > pages {
		return List{}, false, nil
	}
	list := List{Count: len(all), Results: []Schedule{}}
	for _, s := range all[min((q.page-1)*q.size, len(all)):min(q.page*q.size, len(all))] {
		if err := ctx.Err(); err != nil {
			return List{}, false, err
		}
		list.Results = append(list.Results, View(s.job, now))
	}
	if q.page < pages {
		list.Next = pageLink(u, q.page+1)
	}
	if q.page > 1 {
		list.Previous = pageLink(u, q.page-1)
	}
	return list, true, nil
}

func pageLink(u *url.URL, page int) *string {
	values := u.Query()
	values.Set("page", strconv.Itoa(page))
	link := u.EscapedPath() + "?" + values.Encode()
	return &link
}
