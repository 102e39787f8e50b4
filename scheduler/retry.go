package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// RetryPolicy says how often and when a failed attempt is repeated.
//
// The defaults and limits are Azure Scheduler's: an absent policy is fixed
// with 4 retries 30 s apart; the interval is 15 s to 18 months, the count 0
// to 20 (seed "Scheduler concepts", retryPolicy).
type RetryPolicy struct {
	None     bool              // retryType none: a failure is final
	Interval document.Duration // from the end of a failed attempt to the next one
	Count    int               // retries after the first attempt
}

// The defaults and limits of a retry policy.
const (
	DefaultRetryInterval    = 30 * time.Second
	DefaultMinRetryInterval = 15 * time.Second
	DefaultRetryCount       = 4
	MaxRetryCount           = 20
	maxRetryMonths          = 18
)

// DefaultRetryPolicy is the policy of a job that gives none.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{Interval: document.Duration{Exact: DefaultRetryInterval}, Count: DefaultRetryCount}
}

// Next returns when the retry after attempt (0 = the first try) is due, given
// when that attempt ended; false when no retry is left.
func (p RetryPolicy) Next(attempt int, ended time.Time) (time.Time, bool) {
	if p.None || attempt >= p.Count {
		return time.Time{}, false
	}
	return p.Interval.AddTo(ended), true
}

// readRetryPolicy reads the retryPolicy member of an action. inherited is the
// policy when there is none.
func readRetryPolicy(o *document.Object, limits Limits, inherited RetryPolicy) RetryPolicy {
	ro, ok := o.Object("retryPolicy")
	if !ok {
		return inherited
	}
	defer ro.Done()
	p := DefaultRetryPolicy()
	kind, _ := ro.Enum("retryType", "none", "fixed")
	p.None = kind == "none"
	if n, ok := ro.Int("retryCount", 0, MaxRetryCount); ok {
		p.Count = int(n)
	}
	d, ok := ro.Duration("retryInterval")
	if !ok {
		return p
	}
	shortest := limits.minRetryInterval()
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	switch end := d.AddTo(epoch); {
	case end.Before(epoch.Add(shortest)):
		ro.Problem("retryInterval", "%s is shorter than the allowed %s", d, document.Duration{Exact: shortest})
	case end.After(epoch.AddDate(0, maxRetryMonths, 0)):
		ro.Problem("retryInterval", "%s is longer than the allowed 18 months", d)
	default:
		p.Interval = d
	}
	return p
}

// FinalStatus reports whether a status code of HTTP says that a request fails
// however often it is repeated: 4xx, but for 408 (request timeout), 425 (too
// early) and 429 (too many requests). Actions that speak other protocols map
// their errors to the nearest code.
func FinalStatus(status int) bool {
	switch status {
	case 408, 425, 429:
		return false
	}
	return status >= 400 && status <= 499
}
