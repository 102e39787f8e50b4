package jobfile

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// Problem is one thing wrong with a job file.
type Problem struct {
	File    string `json:"file"`
	Job     string `json:"job,omitempty"`  // collection/job, once it is known
	Path    string `json:"path,omitempty"` // in the document
	Message string `json:"message"`

	Cause error `json:"-"` // what the scheduler answered, or why a file was not read; nil for a file that is not in order
}

// Place returns "file: job: path" without what is empty.
func (p Problem) Place() string { return joined(p.File, p.Job, p.Path) }

// String returns "file: job: path: message" without what is empty.
func (p Problem) String() string { return joined(p.File, p.Job, p.Path, p.Message) }

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// unread is the problem of a file that was not read. One that was named and
// cannot be had is a mistake on the command line.
func unread(file string, err error) Problem {
	p := Problem{File: file, Message: terminal.WithoutPath(err).Error(), Cause: err}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		p.Cause = terminal.Usage(err)
	}
	return p
}

// problemsOf turns an error of a document into problems: one for each that a
// validation found, else one for the error.
func problemsOf(file, job string, err error) []Problem {
	found := view.DescribeError(scheduler.AsInvalid(err)).Details
	if len(found) == 0 {
		return []Problem{{File: file, Job: job, Message: strings.TrimPrefix(err.Error(), "job "+job+": "), Cause: err}}
	}
	problems := make([]Problem, len(found))
	for i, p := range found {
		problems[i] = Problem{File: file, Job: job, Path: p.Path, Message: p.Message, Cause: err}
	}
	return problems
}
