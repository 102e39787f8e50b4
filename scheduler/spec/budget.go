package spec

import (
	"errors"
	"sync"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/work"
)

// The budgets of queries, in units of work of about twenty nanoseconds. A rule of a few kilobytes can require hours:
// many steps that hardly ever meet, excluded one by one, and counted. The budgets are thousands of times the needs of
// realistic rules, and limit a query to a few hundredths of a second.
const (
	compileWork = 800_000    // to compile a rule and to find its first run
	storedWork  = 4_000_000  // the same for a stored rule that an older version accepted
	firstWork   = 300_000    // of that, to find the first run
	searchWork  = 400_000    // to find one run, or to count them
	laterWork   = 20_000_000 // to find a later run of a stored job, which would end otherwise
	listWork    = 250_000    // to list runs for users, with the effects of clock changes
	yearWork    = 1_000_000  // to count the runs of each day of a year, for people
	gapWork     = 250_000    // to find the smallest gap
	spreadWork  = 50_000     // to find out how far apart the first runs are
)

// tooCostly is the problem of a rule that takes too much work to compile.
const tooCostly = "too costly: it takes too much work to find out when the rule is due; " +
	"hint: write fewer rules or patterns, with less seldom steps, or split them into several jobs"

// searchBudget returns the budget of a search for a run. It grows with the search for the first run: a stored job must not
// end because its first run was harder to find than today's limit.
func (p *Plan) searchBudget() int64 { return max(searchWork, 2*p.search) }

// costly returns the error for a rule that is too expensive to compute.
func costly(path string) error {
	return document.Problems{{Path: path, Message: tooCostly}}
}

// meters pools the meters of queries that are too short for an allocation each.
var meters = sync.Pool{New: func() any { return new(work.Meter) }}

// metered calls ask with a meter of the given units.
func metered[T any](units int64, ask func(m *work.Meter) (T, bool)) (T, bool) {
	m := meters.Get().(*work.Meter)
	m.Reset(units)
	answer, ok := ask(m)
	ok = ok && !m.Exhausted()
	meters.Put(m)
	return answer, ok
}

// below puts the paths of problems under a member.
func below(member string, err error) error {
	problems, ok := errors.AsType[document.Problems](err)
	if !ok {
		return err
	}
	moved := make(document.Problems, len(problems))
	for i, p := range problems {
		p.Path = member + "." + p.Path
		moved[i] = p
	}
	return moved
}

// problemsOf converts the errors of a schedule's text into problems at a path.
func problemsOf(path string, err error) document.Problems {
	var list document.Problems
	for _, one := range flatten(err) {
		list = append(list, document.Problem{Path: path, Message: one.Error(), Cause: one})
	}
	return list
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return []error{err}
	}
	var list []error
	for _, one := range joined.Unwrap() {
		list = append(list, flatten(one)...)
	}
	return list
}
