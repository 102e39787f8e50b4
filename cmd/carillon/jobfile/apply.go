package jobfile

import (
	"context"

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

// Apply puts all jobs and returns a result for each, in their order.
func Apply(ctx context.Context, jobs []Job, put Put) []Result {
	results := make([]Result, len(jobs))
	var g errgroup.Group
	g.SetLimit(sideBySide)
	for i, j := range jobs {
		g.Go(func() error {
			verdict, err := put(ctx, j)
			results[i] = Result{Job: j, Verdict: verdict}
			if err != nil {
				results[i] = Result{Job: j, Problems: j.problems(j.Key.String(), err)}
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own result
	return results
}
