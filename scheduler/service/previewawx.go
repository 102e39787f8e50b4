package service

import (
	"context"
	"errors"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// PreviewAWX returns the next ten instants of a recurrence in AWX's
// dialect. The error is a [spec.AWXErrors], or the cause of the end of ctx.
func (p Previewer) PreviewAWX(ctx context.Context, rrule string) (*spec.Preview, error) {
	release, err := p.takeTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	now := p.now()
	rule, err := spec.ParseRRule(rrule, spec.AWX)
	if err != nil {
		return nil, asAWX(err)
	}
	plan, err := spec.NewPlan(spec.Timing{Recurrence: &spec.Recurrence{Rule: rule}}, now)
	if err != nil {
		return nil, asAWX(err)
	}
	preview := plan.Preview(now, DefaultPreview)
	return &preview, nil
}

// asAWX tells in AWX's way what only shows when a recurrence is compiled.
func asAWX(err error) error {
	if _, ok := errors.AsType[spec.AWXErrors](err); ok {
		return err
	}
	var list spec.AWXErrors
	for _, p := range scheduler.ProblemsIn(err) {
		list = append(list, &spec.SyntaxError{Message: "rrule parsing failed validation: " + p.Message})
	}
	return list
}
