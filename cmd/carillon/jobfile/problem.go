package jobfile

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Problem is one thing wrong with a job file.
type Problem struct {
	File    string `json:"file"`
	Job     string `json:"job,omitempty"`  // collection/job, or "collection NAME", once it is known
	Path    string `json:"path,omitempty"` // in the document
	Message string `json:"message"`

	Cause error `json:"-"` // what the scheduler answered; nil when it was not asked
}

// String returns "file: job: path: message" without what is empty.
func (p Problem) String() string {
	parts := []string{p.File, p.Job, p.Path, p.Message}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// withoutName returns a message without the name of what it is about, which
// stands before it anyway.
func withoutName(message, name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(message, "job "+name+": "), name+": ")
}

// problemsOf turns an error of a document into problems: one for each that a
// validation found, else one for the error.
func problemsOf(file, job string, err error) []Problem {
	found := view.DescribeError(scheduler.AsInvalid(err)).Details
	if len(found) == 0 {
		return []Problem{{File: file, Job: job, Message: withoutName(err.Error(), job), Cause: err}}
	}
	problems := make([]Problem, len(found))
	for i, p := range found {
		problems[i] = Problem{File: file, Job: job, Path: p.Path, Message: p.Message, Cause: err}
	}
	return problems
}
