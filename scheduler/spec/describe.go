package spec

import (
	"fmt"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/rrule"
)

// Describe says in plain English when the job runs, without a full stop: "at 05:15 and 17:15 on the third Wednesday of
// every month, America/New_York".
func (p *Plan) Describe() string {
	r := p.timing.Recurrence
	if r == nil {
		if p.timing.Start.IsZero() {
			return "once, at once"
		}
		return "once, at " + english.Stamp(p.timing.Start) + ", UTC"
	}
	text := r.text(p)
	if r.Count > 0 {
		text += fmt.Sprintf(", %s at most", english.Count(r.Count, "run"))
	}
	if !r.End.IsZero() {
		text += ", until " + english.Stamp(r.End) + " UTC"
	}
	return text
}

// text describes the recurrence without its limits.
func (r Recurrence) text(p *Plan) string {
	setting := p.timing.setting(p.created)
	switch rule := r.Rule.(type) {
	case nil:
	case *rrule.Set:
		return rule.DescribeCompiled(setting, p.rule)
	default:
		return rule.Describe(setting)
	}
	return r.azure().Describe(p.timing.Start, p.created)
}
