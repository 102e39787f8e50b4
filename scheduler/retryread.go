package scheduler

import (
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// retryPolicy reads the retryPolicy member of an action. inherited is the policy
// when there is none.
func (r *Reading) retryPolicy(o *document.Object, inherited RetryPolicy) RetryPolicy {
	ro, ok := o.Object("retryPolicy")
	if !ok {
		return inherited
	}
	defer ro.Done()
	p := DefaultRetryPolicy()
	if kind, ok := ro.Enum("retryType", string(RetryNone), string(RetryFixed), string(RetryExponential)); ok {
		p.Type = RetryType(kind)
	}
	if n, ok := ro.Int("retryCount", 0, MaxRetryCount); ok {
		p.Count = int(n)
	}
	if d, ok := ro.Duration("retryInterval"); ok {
		p.readInterval(ro, d, r.minRetryInterval())
	}
	p.readBackoff(ro)
	if d, ok := exactDuration(ro, "jitter", 0, maxRetryJitter); ok {
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

// readBackoff reads what only an exponential policy has.
func (p *RetryPolicy) readBackoff(o *document.Object) {
	if p.Type != RetryExponential {
		for _, name := range []string{"maxRetryInterval", "maxDoublings"} {
			if o.Has(name) {
				o.Problem(name, "goes with retryType exponential only")
			}
		}
		return
	}
	p.Jitter, p.Doublings = -1, DefaultMaxDoublings
	p.Most = max(DefaultMaxRetryInterval, p.Interval.Exact)
	if n, ok := o.Int("maxDoublings", 0, maxDoublings); ok {
		p.Doublings = int(n)
	}
	if d, ok := exactDuration(o, "maxRetryInterval", p.Interval.Exact, maxRetryMonths*30*24*time.Hour); ok {
		p.Most = d
	}
}
