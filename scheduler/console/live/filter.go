package live

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/service"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// filter selects records, as in the URL.
type filter struct {
	Collection string
	Job        string // in the collection, or the default one; or collection/job
	Outcomes   []string
	Type       string
	Target     string
	Phase      string // MainAction or ErrorAction
	Manual     string // true or false
	Since      string // a time, or a duration before now
	Until      string
}

// readFilter parses a URL.
func readFilter(v url.Values) filter {
	get := func(name string) string { return strings.TrimSpace(v.Get(name)) }
	f := filter{
		Collection: get("collection"), Job: get("job"), Type: get("type"), Target: get("target"), Phase: get("action"),
		Manual: get("manual"), Since: get("since"), Until: get("until"),
	}
	for _, o := range v["outcome"] {
		if o = strings.ToLower(strings.TrimSpace(o)); o != "" && !slices.Contains(f.Outcomes, o) {
			f.Outcomes = append(f.Outcomes, o)
		}
	}
	return f
}

// values is the inverse of [readFilter].
func (f *filter) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{
		"collection": f.Collection, "job": f.Job, "type": f.Type, "target": f.Target, "action": f.Phase, "manual": f.Manual,
		"since": f.Since, "until": f.Until,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if len(f.Outcomes) > 0 {
		v["outcome"] = f.Outcomes
	}
	return v
}

// with returns the URL of a path with the filter and additional parameters.
func (f *filter) with(path string, pairs ...string) string {
	v := f.values()
	for pair := range slices.Chunk(pairs, 2) {
		v.Set(pair[0], pair[1])
	}
	if len(v) == 0 {
		return path
	}
	return path + "?" + v.Encode()
}

// IsEmpty reports whether the filter selects all records.
func (f *filter) IsEmpty() bool { return len(f.values()) == 0 }

// Has reports whether the filter selects an outcome.
func (f *filter) Has(outcome scheduler.Outcome) bool {
	return slices.Contains(f.Outcomes, string(outcome))
}

// Bounded reports whether no new record can match.
func (f *filter) Bounded() bool { return f.Until != "" }

// key returns the job or collection of the filter.
func (f *filter) key() scheduler.Key { return scheduler.KeyIn(f.Collection, f.Job) }

// query returns the query of the filter, limited to what the caller may see.
func (f *filter) query(ctx context.Context, now time.Time) (q service.HistoryQuery, err error) {
	q.Key, q.Sees = f.key(), access.Sees(ctx)
	if q.Key.Collection != "" {
		if err := access.Check(ctx, access.Read, q.Key.Collection); err != nil {
			return q, err
		}
	}
	var terms []string
	add := func(member, comparison string, values ...string) error {
		var choices []string
		for _, v := range values {
			if v == "" {
				continue
			}
			if strings.ContainsAny(v, " '()") { // no field has such a value, and the parser would misread it
				return frame.Problem{Status: http.StatusBadRequest, Text: words.Say("live.word", member, v)}
			}
			choices = append(choices, member+" "+comparison+" "+v)
		}
		if len(choices) > 0 {
			terms = append(terms, "("+strings.Join(choices, " or ")+")")
		}
		return nil
	}
	for _, one := range []struct {
		member, comparison string
		values             []string
	}{
		{"status", "eq", f.Outcomes},
		{"actionType", "eq", []string{f.Type}},
		{"actionName", "eq", []string{f.Phase}},
		{"target", "eq", []string{f.Target}},
		{"manual", "eq", []string{f.Manual}},
		{"startTime", "ge", []string{f.Since}},
		{"startTime", "le", []string{f.Until}},
	} {
		if err := add(one.member, one.comparison, one.values...); err != nil {
			return q, err
		}
	}
	q.RecordFilter, err = view.HistoryFilter(strings.Join(terms, " and "), now)
	return q, err
}

func sequence(n uint64) string { return strconv.FormatUint(n, 10) }
