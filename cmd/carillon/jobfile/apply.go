package jobfile

import (
	"context"
	"encoding/json"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler/spec"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Put gives a job to a scheduler.
type Put func(ctx context.Context, j Job) (Answer, error)

// Answer is what a scheduler makes of a job that is put.
type Answer struct {
	Result   view.Result
	Over     string         // of a job at its end: what it has come to
	Warnings []spec.Warning // what its writer might not expect

	// Of a dry run: the properties as they are, nil for a new job, and as they would
	// be, without the status; how the job would go on, nil when it would not run.
	Before, After json.RawMessage
	DryRun        *view.DryRun
}

// Result is what became of one job, or collection.
type Result struct {
	Answer // empty when there are problems

	Job      Job
	Warned   []Problem // the warnings, with the place of the job
	Problems []Problem
}

// sideBySide is how many jobs are put at the same time.
const sideBySide = 8

// Apply puts all collections and then all jobs, and returns a result for each,
// in that order.
func Apply(ctx context.Context, jobs []Job, put Put) []Result {
	jobs = slices.SortedStableFunc(slices.Values(jobs), inOrder)
	collections, _ := slices.BinarySearchFunc(jobs, 1, func(j Job, t int) int { return turn(j) - t })
	return append(applyAll(ctx, jobs[:collections], put), applyAll(ctx, jobs[collections:], put)...)
}

// applyAll puts jobs side by side.
func applyAll(ctx context.Context, jobs []Job, put Put) []Result {
	results := make([]Result, len(jobs))
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for i, j := range jobs {
		g.Go(func() error {
			answer, err := put(ctx, j)
			results[i] = Result{Job: j, Answer: answer}
			for _, w := range answer.Warnings {
				results[i].Warned = append(results[i].Warned, j.problem(j.Name(), w.Path, w.Message, nil))
			}
			slices.SortStableFunc(results[i].Warned, inFile)
			if err != nil {
				results[i] = Result{Job: j, Problems: j.problems(j.Name(), err)}
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own result
	return results
}
