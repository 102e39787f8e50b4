package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Plan is an Azure Scheduler plan, named by a collection's sku ("Plans and billing in Azure Scheduler").
type Plan string

// The plans.
const (
	Free       Plan = "Free"
	Standard   Plan = "Standard"
	P10Premium Plan = "P10Premium"
	P20Premium Plan = "P20Premium"
)

// Quota limits the jobs of a collection. The zero Quota has no limits.
type Quota struct {
	MaxJobCount      int             // 0: no limit
	MaxRecurrence    spec.Recurrence // highest frequency of a job; zero frequency: no limit
	MinRetryInterval time.Duration   // 0: limit of the process
	NoAuthentication bool            // HTTP requests must not use authentication
}

// plans are the quotas of the plans. The free plan retries a failed attempt after an hour at the earliest ("Azure
// Scheduler concepts, terminology, and entities", retryPolicy).
var plans = map[Plan]Quota{
	Free:       {5, spec.Recurrence{Frequency: spec.Hour, Interval: 1}, time.Hour, true},
	Standard:   {50, spec.Recurrence{Frequency: spec.Minute, Interval: 1}, 0, false},
	P10Premium: {50, spec.Recurrence{Frequency: spec.Minute, Interval: 1}, 0, false},
	P20Premium: {1000, spec.Recurrence{Frequency: spec.Minute, Interval: 1}, 0, false},
}

// Quota returns the collection's own quota, completed by the quota of its plan. Without a plan, only its own limits
// apply.
func (c *Collection) Quota() Quota {
	q := plans[c.Plan]
	if c.MaxJobCount > 0 {
		q.MaxJobCount = c.MaxJobCount
	}
	if c.MaxRecurrence.Frequency != 0 {
		q.MaxRecurrence = c.MaxRecurrence
	}
	q.MinRetryInterval = max(q.MinRetryInterval, c.MinRetryInterval)
	return q
}

// Limits returns the limits of the collection, completed by the limits of the process.
func (c *Collection) Limits(process Limits) Limits {
	least := c.Quota().MinRetryInterval
	if c.MinRetryInterval == 0 {
		least = max(least, process.MinRetryInterval)
	}
	process.MinRetryInterval = least
	defaults, _ := c.properties.Member("defaults")
	_, process.retries = defaults.Member("retryPolicy")
	return process
}

// Admits checks a job against the collection's quota: consecutive occurrences must be at least as far apart as the
// shortest interval of the quota's recurrence, and in the free plan requests must not use authentication. As in Azure
// Scheduler, an exceeded quota returns [ErrConflict].
func (c *Collection) Admits(d *Definition, r *DefinitionDecoder) error {
	q := c.Quota()
	if err := c.admitsActions(q, d); err != nil || q.MaxRecurrence.Frequency == 0 || d.Timing.Recurrence == nil {
		return err
	}
	plan, err := d.planFor(r.Key, r.UID, r.Now)
	if err != nil {
		return AsInvalid(err)
	}
	return c.admitsPlan(q, plan)
}

// AdmitsPatch is Admits for a patched job. It accepts patches of notes and of the state only, so that a job that
// predates the quota can be disabled.
func (c *Collection) AdmitsPatch(cur *Job, d *Definition, r *DefinitionDecoder) error {
	if cur.Def.work() == d.work() {
		return nil
	}
	return c.Admits(d, r)
}

func (c *Collection) admitsPlan(q Quota, plan *spec.Plan) error {
	least := q.MaxRecurrence.ShortestInterval()
	gap := plan.SmallestGap(least)
	if gap >= least {
		return nil
	}
	return fmt.Errorf("%w: recurrence: two occurrences are %s apart, and the quota of collection %s (maxRecurrence) allows one every %s",
		ErrConflict, document.Duration{Exact: gap}, c.Name, often(q.MaxRecurrence))
}

func (c *Collection) admitsActions(q Quota, d *Definition) error {
	if !q.NoAuthentication {
		return nil
	}
	action, _ := d.Document().Member("action")
	if at := authenticated("action", action); at != "" {
		return fmt.Errorf("%w: %s: the plan %s of collection %s has no outbound authentication", ErrConflict, at, c.Plan, c.Name)
	}
	return nil
}

// authenticated returns the path of the HTTP authentication of an action or one of its errorActions; "" for none.
func authenticated(at string, action document.Value) string {
	request, _ := action.Member("request")
	if auth, ok := request.Member("authentication"); ok && auth.Kind() == document.KindObject {
		if kind, _ := auth.Member("type"); !strings.EqualFold(kind.Text(), "NotSpecified") {
			return at + ".request.authentication"
		}
	}
	following, _ := action.Member("errorAction")
	if following.Kind() == document.KindObject {
		return authenticated(at+".errorAction", following)
	}
	for i, one := range following.Items() {
		if found := authenticated(fmt.Sprintf("%s.errorAction[%d]", at, i), one); found != "" {
			return found
		}
	}
	return ""
}

// CheckPlan checks that the collection can change to the free plan with its jobs. others is the number of free
// collections in its subscription: only one is allowed ("Plans and billing in Azure Scheduler"). The existing jobs must
// meet the limits of the plan. The error is [ErrConflict] and lists every violation.
func (c *Collection) CheckPlan(jobs []*Job, others int) error {
	q := c.Quota()
	var wrong []error
	if others > 0 {
		wrong = append(wrong, errors.New("its subscription has a free collection already"))
	}
	if len(jobs) > q.MaxJobCount {
		wrong = append(wrong, fmt.Errorf("it has more jobs than the %d of the plan", q.MaxJobCount))
	}
	for _, j := range jobs {
		err := c.admitsActions(q, j.Def)
		if err == nil && j.Def.Timing.Recurrence != nil && j.Plan != nil {
			err = c.admitsPlan(q, j.Plan)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("job %s: %w", j.Key.Job, err))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("collection %s cannot have the plan %s: %w: %w", c.Name, Free, ErrConflict, errors.Join(wrong...))
}

// often returns the interval of a recurrence: "hour", "2 weeks".
func often(r spec.Recurrence) string {
	if r.Interval > 1 {
		return fmt.Sprintf("%d %ss", r.Interval, r.Frequency)
	}
	return r.Frequency.String()
}
