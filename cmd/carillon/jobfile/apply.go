package jobfile

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Verdict is what became of a job that was put.
type Verdict string

// The verdicts.
const (
	Created   Verdict = "created"
	Updated   Verdict = "updated"
	Unchanged Verdict = "unchanged"
	Applied   Verdict = "applied" // updated or unchanged: the scheduler does not tell
	Ended     Verdict = "ended"   // as it was, and completed or faulted: it will not run again
)

// Put gives a job to a scheduler.
type Put func(ctx context.Context, j Job) (Verdict, error)

// Result is what became of one job.
type Result struct {
	Job      Job
	Verdict  Verdict // "" when there are problems
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
			verdict, err := put(ctx, j)
			results[i] = Result{Job: j, Verdict: verdict}
			if err != nil {
				results[i] = Result{Job: j, Problems: problemsOf(j.File, j.Name(), err)}
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own result
	return results
}
