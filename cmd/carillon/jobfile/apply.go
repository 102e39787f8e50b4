package jobfile

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// Put gives a job to a scheduler.
type Put func(ctx context.Context, j Job) (Answer, error)

// Answer is a scheduler's response to a put job.
type Answer struct {
	Result   v1.Result      `json:"result"`
	Message  string         `json:"message,omitempty"`  // of an ended job: its outcome
	Warnings []spec.Warning `json:"warnings,omitempty"` // what its writer might not expect

	// Of a dry run: the properties before (nil for a new job) and after, without the status, and the next runs, nil
	// if the job would not run.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	DryRun *v1.DryRun      `json:"dryRun,omitempty"`
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
	var collections, others []Job
	for _, j := range jobs {
		if j.IsCollection() {
			collections = append(collections, j)
		} else {
			others = append(others, j)
		}
	}
	return append(applyAll(ctx, collections, put), applyAll(ctx, others, put)...)
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

// Line is a line of a document that was changed.
type Line struct {
	Mark byte // '+': it is new; '-': it was there; ' ': it stays; '~': lines are left out
	Text string
}

// Diff compares two JSON documents, nil for none, by the lines that they have as YAML for people, and leaves out what is
// far from a change. It is empty when they are the same.
func Diff(before, after []byte) []Line {
	const heading = 3 // lines that name the texts, which have no names
	var lines []Line
	for i, text := range strings.Split(string(diff.Diff("", yamlOf(before), "", yamlOf(after))), "\n") {
		switch {
		case i < heading, text == "", i == heading: // the first place needs no mark
		case text[0] == '@':
			lines = append(lines, Line{'~', ""})
		default:
			lines = append(lines, Line{text[0], text[1:]})
		}
	}
	return lines
}

// yamlOf is a document as YAML, as it is when it is none.
func yamlOf(doc []byte) []byte {
	if len(doc) == 0 {
		return nil
	}
	v, err := document.Parse(doc)
	if err != nil {
		return append(doc, '\n')
	}
	return v.YAML()
}
