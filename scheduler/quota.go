package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Plan is a plan of Azure Scheduler, which a collection's sku names ("Plans and
// billing in Azure Scheduler").
type Plan string

// The plans.
const (
	Free       Plan = "Free"
	Standard   Plan = "Standard"
	P10Premium Plan = "P10Premium"
	P20Premium Plan = "P20Premium"
)

// Quota is what a collection allows its jobs. The zero Quota allows everything.
type Quota struct {
	MaxJobCount      int             // 0: no limit
	MaxRecurrence    spec.Recurrence // the most often a job may recur; zero frequency: no limit
	MinRetryInterval time.Duration   // 0: the process's
	NoAuthentication bool            // requests over HTTP must not authenticate themselves
}

// plans are the quotas of the plans. In the free one a failed attempt is not
// repeated before an hour has passed ("Azure Scheduler concepts, terminology, and
// entities", retryPolicy).
var plans = map[Plan]Quota{
	Free:       {5, spec.Recurrence{Frequency: spec.Hour, Interval: 1}, time.Hour, true},
	Standard:   {50, spec.Recurrence{Frequency: spec.Minute, Interval: 1}, 0, false},
	P10Premium: {50, spec.Recurrence{Frequency: spec.Minute, Interval: 1}, 0, false},
	P20Premium: {1000, spec.Recurrence{Frequency: spec.Minute, Interval: 1}, 0, false},
}

// Quota returns the collection's quota: its own, and where it says nothing, that
// of its plan. One without a plan has no other than its own.
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

// Limits are what the collection allows its jobs, with the process's limits
// where it has none of its own.
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

// Admits checks what the collection's quota says of a single job: no two
// consecutive occurrences may be closer than the quota's interval can be on a
// calendar and on a clock, and in the free plan no request authenticates itself.
// [ErrConflict] says that the quota is exceeded, as Azure Scheduler does.
func (c *Collection) Admits(d *Definition, r *Reading) error {
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

// AdmitsPatch is Admits for what a patch made of a job, unless that is for people only, or turns it on or off: a job that was
// there before its collection's quota can be disabled.
func (c *Collection) AdmitsPatch(cur *Job, d *Definition, r *Reading) error {
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

// authenticated returns where an action, or one of its errorActions, has the
// authentication of a request over HTTP; "" for none.
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

// CheckPlan checks that the collection may have the free plan, which it has not had
// before, with its jobs, and with so many other free ones in its subscription. It
// may be the only one ("Plans and billing in Azure Scheduler"), and its jobs must
// be within the plan as they are. [ErrConflict] names what is not.
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

// often is the interval that a recurrence names: "hour", "2 weeks".
func often(r spec.Recurrence) string {
	if r.Interval > 1 {
		return fmt.Sprintf("%d %ss", r.Interval, r.Frequency)
	}
	return r.Frequency.String()
}
