package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Problem is one thing wrong with a job file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`   // from 1; 0 if it is about no place in the file
	Column  int    `json:"column,omitempty"` // from 1, in characters
	Job     string `json:"job,omitempty"`    // collection/job, or "collection NAME", once it is known
	Path    string `json:"path,omitempty"`   // in the document
	Message string `json:"message"`

	Cause error `json:"-"` // the scheduler's error, or why the file was not read; nil for an invalid file
}

// Place returns "file:line:column: path" without empty parts. A problem without a line names its job.
func (p Problem) Place() string {
	at, job := p.File, p.Job
	if p.Line > 0 {
		at, job = strings.TrimPrefix(fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column), ":"), ""
	}
	return joined(at, job, p.Path)
}

// String returns the place and the message.
func (p Problem) String() string { return joined(p.Place(), p.Message) }

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// unread returns the problem of a file that was not read. A missing or unreadable file on the command line is a
// usage error.
func unread(file string, err error) Problem {
	p := Problem{File: file, Message: terminal.WithoutPath(err).Error(), Cause: err}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		p.Cause = terminal.Usage(err)
	}
	return p
}

// withoutName removes the name of the subject from a message, because the prefix has it.
func withoutName(message, name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(message, "job "+name+": "), name+": ")
}

// Source is the origin of a document, for problems.
type Source struct {
	File string // as problems name it

	place func(path string) (line, column int) // nil: nowhere
}

// Place returns the line and column of a path in the document, or 0 if unknown. For a missing field it returns
// the position of its parent.
func (s Source) Place(path string) (line, column int) {
	if s.place == nil {
		return 0, 0
	}
	return s.place(path)
}

// problem makes a problem of something that is wrong at a path.
func (s Source) problem(job, path, message string, cause error) Problem {
	p := Problem{File: s.File, Job: job, Path: path, Message: message, Cause: cause}
	p.Line, p.Column = s.Place(path)
	return p
}

// problems turns an error of a document into problems: one for each that a
// validation found, else one for the error.
func (s Source) problems(job string, err error) []Problem {
	if wrong, ok := errors.AsType[*document.SyntaxError](err); ok {
		p, _ := errors.AsType[document.Problem](err)
		return []Problem{{
			File: s.File, Line: wrong.Line, Column: wrong.Column, Job: job, Path: p.Path, Message: wrong.Message, Cause: err,
		}}
	}
	found := v1.DescribeError(scheduler.AsInvalid(err)).Details
	if len(found) == 0 {
		return []Problem{{File: s.File, Job: job, Message: withoutName(err.Error(), job), Cause: err}}
	}
	problems := make([]Problem, len(found))
	for i, p := range found {
		problems[i] = s.problem(job, p.Path, p.Message, err)
	}
	slices.SortStableFunc(problems, inFile)
	return problems
}

// errFile is the cause of a problem that no scheduler was asked about.
var errFile = errors.New("a job file has problems")

// Report prints problems for people, and returns an error with all of them for programs; nil for none.
func Report(t *terminal.Terminal, problems []Problem) error {
	causes := make([]error, len(problems))
	for i, p := range problems {
		t.Complain("error", p.String())
		causes[i] = &terminal.Failure{Path: p.Place(), Message: p.Message, Err: cmp.Or(p.Cause, errFile)}
	}
	return terminal.Reported(causes...)
}

// inFile compares the places of two problems of a document.
func inFile(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) }
