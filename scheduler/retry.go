package scheduler

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// RetryPolicy defines the retries of a failed attempt. The zero policy has none.
//
// The defaults and limits are Azure Scheduler's: an absent policy is fixed with 4 retries 30 s apart; the interval is
// 15 s to 18 months, the count 0 to 20 ("Azure Scheduler concepts, terminology, and entities", retryPolicy).
//
// Carillon adds the type exponential, as in Google Cloud Tasks: the first pause is Interval, each of the next Doublings
// pauses is twice the previous one, and later pauses grow linearly by the last doubled pause. Most limits every pause,
// before jitter.
type RetryPolicy struct {
	Type      RetryType
	Interval  document.Duration // from the end of a failed attempt to the next one; exponential: first pause
	Count     int               // retries after the first attempt
	Most      time.Duration     // exponential: longest pause
	Doublings int               // exponential: number of pauses that double
	Jitter    time.Duration     // maximum extension of a pause, exclusive; each attempt has a fixed share; -1: a tenth of the pause
	FinalOn   *StatusSet        // status codes without a retry; nil: the action decides
}

// RetryType is the type of a retry policy.
type RetryType string

// The types of retry policies.
const (
	RetryNone        RetryType = "none"
	RetryFixed       RetryType = "fixed"
	RetryExponential RetryType = "exponential"
)

// The defaults and limits of a retry policy.
const (
	DefaultRetryInterval    = 30 * time.Second
	DefaultMinRetryInterval = 15 * time.Second
	DefaultRetryCount       = 4
	MaxRetryCount           = 20
	maxRetryMonths          = 18

	DefaultMaxRetryInterval = time.Hour
	DefaultMaxDoublings     = 5
	maxDoublings            = 30
	maxRetryJitter          = 24 * time.Hour

	// MaxRetryAfter limits the Retry-After of a target for a fixed policy. An exponential policy limits it to its
	// longest pause.
	MaxRetryAfter = time.Hour
)

// DefaultRetryPolicy returns the policy of a job without one.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{Type: RetryFixed, Interval: document.Duration{Exact: DefaultRetryInterval}, Count: DefaultRetryCount}
}

// Next returns when the retry after attempt (0 = the first try) is due, given the result and end of that attempt; false
// for no retry. id is the attempt's id, which determines its share of the jitter.
func (p *RetryPolicy) Next(attempt int, id string, res Result, ended time.Time) (time.Time, bool) {
	if p.Type == RetryNone || attempt >= p.Count || p.Final(res) {
		return time.Time{}, false
	}
	due, most := p.Interval.AddTo(ended), MaxRetryAfter
	if p.Type == RetryExponential {
		due, most = ended.Add(p.pause(attempt)), p.Most
	}
	if asked := ended.Add(min(res.RetryAfter, most)); asked.After(due) {
		due = asked
	}
	return due.Add(p.share(id, due.Sub(ended))), true
}

// Final reports whether the policy excludes a retry after res.
func (p *RetryPolicy) Final(res Result) bool {
	if p.FinalOn != nil {
		return p.FinalOn.Has(res.Status)
	}
	return res.Final
}

// pause returns the pause after attempt, without jitter.
func (p *RetryPolicy) pause(attempt int) time.Duration {
	pause := p.Interval.Exact
	for range min(attempt, p.Doublings) {
		if pause >= p.Most {
			return p.Most
		}
		pause *= 2
	}
	return min(p.Most, pause*time.Duration(max(1, attempt-p.Doublings+1)))
}

// share returns the jitter of an attempt, a hash of its id, so that repeated computations agree.
func (p *RetryPolicy) share(id string, pause time.Duration) time.Duration {
	width := p.Jitter
	if width < 0 {
		width = pause / 10
	}
	if width <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return time.Duration(h.Sum64() % uint64(width))
}

// FinalStatus reports whether an HTTP status code excludes success on a retry: 4xx, except 408 (request timeout), 425
// (too early) and 429 (too many requests). Actions for other protocols map their errors to the nearest code.
func FinalStatus(status int) bool {
	switch status {
	case 408, 425, 429:
		return false
	}
	return status >= 400 && status <= 499
}

// defaultRetryPolicy returns the policy of a job without one, with at least the shortest allowed interval.
func (r *DefinitionDecoder) defaultRetryPolicy() RetryPolicy {
	p := DefaultRetryPolicy()
	p.Interval.Exact = max(p.Interval.Exact, r.minRetryInterval())
	return p
}

// retryPolicy reads the retryPolicy field of an action at path at. inherited is the default.
func (r *DefinitionDecoder) retryPolicy(o *document.Object, inherited RetryPolicy, at string) RetryPolicy {
	ro, ok := o.Object("retryPolicy")
	if !ok {
		if at == mainPath && !r.retries {
			r.raise(at)
		}
		return inherited
	}
	defer ro.Done()
	p := r.defaultRetryPolicy()
	if kind, ok := ro.Enum("retryType", string(RetryNone), string(RetryFixed), string(RetryExponential)); ok {
		p.Type = RetryType(kind)
	}
	if n, ok := ro.Int("retryCount", 0, MaxRetryCount); ok {
		p.Count = int(n)
		if p.Type == RetryNone && n > 0 {
			r.warn(ro, "retryCount", "has no effect: retryType none makes no retries")
		}
	}
	if d, ok := ro.Duration("retryInterval"); ok {
		shortest := r.minRetryInterval()
		if r.stored {
			shortest = 0
		}
		p.readInterval(ro, d, shortest)
	} else if p.Type != RetryNone {
		r.raise(at)
	}
	p.readBackoff(ro)
	if d, ok := ro.ExactDuration("jitter", 0, maxRetryJitter); ok {
		p.Jitter = d
	}
	if set, ok := ReadStatuses(ro, "finalOn"); ok {
		p.FinalOn = &set
	}
	return p
}

func (p *RetryPolicy) readInterval(o *document.Object, d document.Duration, shortest time.Duration) {
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	switch end := d.AddTo(epoch); {
	case end.Before(epoch.Add(shortest)):
		o.Problem("retryInterval", "%s is shorter than the allowed %s", d, document.Duration{Exact: shortest})
	case end.After(epoch.AddDate(0, maxRetryMonths, 0)):
		o.Problem("retryInterval", "%s is longer than the allowed 18 months", d)
	case d.Months > 0 && p.Type == RetryExponential:
		o.Problem("retryInterval", "%s must not use years or months, whose length varies, with retryType exponential", d)
	default:
		p.Interval = d
	}
}

// readBackoff reads the fields of an exponential policy.
func (p *RetryPolicy) readBackoff(o *document.Object) {
	if p.Type != RetryExponential {
		for _, name := range []string{"maxRetryInterval", "maxDoublings"} {
			if o.Has(name) {
				o.Problem(name, "goes with retryType exponential only")
			}
		}
		if !o.Describes() {
			return
		}
	}
	p.Jitter, p.Doublings = -1, DefaultMaxDoublings
	p.Most = max(DefaultMaxRetryInterval, p.Interval.Exact)
	if n, ok := o.Int("maxDoublings", 0, maxDoublings); ok {
		p.Doublings = int(n)
	}
	d, ok := o.ExactDuration("maxRetryInterval", 0, maxRetryMonths*30*24*time.Hour)
	if ok && o.NotShorter("maxRetryInterval", d, p.Interval.Exact) {
		p.Most = d
	}
}

// raise records that an action uses the default interval, which may have been raised.
func (r *DefinitionDecoder) raise(at string) {
	if r.minRetryInterval() > DefaultRetryInterval {
		r.raised = append(r.raised, at)
	}
}

// raise writes raised default retry intervals into the properties: they stay visible, and unchanged if the limit
// changes.
func (d *Definition) raise(properties document.Value) document.Value {
	for _, at := range d.raised {
		interval := document.StringValue(document.Duration{Exact: d.minimum}.String())
		properties = properties.With(interval, at+".retryPolicy.retryInterval")
	}
	return properties
}

// The range of status codes (RFC 9110, section 15).
const (
	minStatus = 100
	maxStatus = 599
)

// StatusSet is a set of status codes, one bit for each. The zero set is empty.
type StatusSet [maxStatus/64 + 1]uint64

// Has reports whether status is in the set.
func (s *StatusSet) Has(status int) bool {
	return status >= minStatus && status <= maxStatus && s[status/64]&(1<<(status%64)) != 0
}

// Add adds all codes from low to high, inclusive.
func (s *StatusSet) Add(low, high int) {
	for status := low; status <= high; status++ {
		s[status/64] |= 1 << (status % 64)
	}
}

// ReadStatuses reads a field with a list of status codes: "404", "4xx" (x in either case) or "500-503". ok is false if
// it is absent.
func ReadStatuses(o *document.Object, name string) (s StatusSet, ok bool) {
	patterns, ok := o.Strings(name)
	for i, pattern := range patterns {
		low, high, err := parseStatus(pattern)
		if err != nil {
			o.Reader().Problem(o.Element(name, i), "%v", err)
			continue
		}
		s.Add(low, high)
	}
	return s, ok
}

// parseStatus returns the range of codes of a pattern.
func parseStatus(pattern string) (low, high int, err error) {
	first, last, isRange := strings.Cut(pattern, "-")
	switch {
	case isRange:
		low, high = statusCode(first), statusCode(last)
	case len(pattern) == 3 && strings.EqualFold(pattern[1:], "xx"):
		low = statusCode(pattern[:1] + "00")
		high = low + 99
	default:
		low = statusCode(pattern)
		high = low
	}
	switch {
	case low < 0 || high < 0:
		return 0, 0, fmt.Errorf("%q is not a status: write 200, 2xx or 200-204", pattern)
	case low < minStatus || high > maxStatus:
		return 0, 0, fmt.Errorf("%q is not in %d-%d", pattern, minStatus, maxStatus)
	case low > high:
		return 0, 0, fmt.Errorf("%q ends before it begins", pattern)
	}
	return low, high, nil
}

// statusCode parses three digits; -1 for anything else.
func statusCode(s string) int {
	if len(s) != 3 || strings.Trim(s, "0123456789") != "" {
		return -1
	}
	code, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return code
}
