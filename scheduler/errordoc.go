package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// ErrorDocument is an error as every door of the scheduler tells it:
//
//	{"error": {"code": "BadRequest", "message": "…", "details": [{"path": "recurrence.interval", "message": "…"}]}}
//
// details is there when single places of the input are to blame, and names
// all of them. Codes and status numbers belong together:
//
//	400 BadRequest          the input is wrong (ErrInvalid)
//	404 ResourceNotFound    the job or collection does not exist (ErrNotFound)
//	409 Conflict            its state, or a quota, does not allow it (ErrConflict)
//	503 ServiceUnavailable  the store did not answer, or the time was up; try again (ErrUnavailable)
//	500 InternalError       a defect of the scheduler; the message says nothing about its inside
type ErrorDocument struct {
	Status  int // as in HTTP; the NATS API uses the same numbers
	Code    string
	Message string
	Details document.Problems
}

// DescribeError returns the document of an error of a [Service]. What matches
// none of the sentinels is a defect: its text is left out, so the caller
// should log it.
func DescribeError(err error) ErrorDocument {
	switch {
	case errors.Is(err, ErrInvalid):
		p := problemsIn(err)
		if len(p) == 0 {
			return ErrorDocument{400, "BadRequest", err.Error(), nil}
		}
		return ErrorDocument{400, "BadRequest", summary(p), p}
	case errors.Is(err, ErrNotFound):
		return ErrorDocument{404, "ResourceNotFound", err.Error(), nil}
	case errors.Is(err, ErrConflict):
		return ErrorDocument{409, "Conflict", err.Error(), nil}
	case errors.Is(err, ErrUnavailable):
		return ErrorDocument{503, "ServiceUnavailable", err.Error(), nil}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ErrorDocument{503, "ServiceUnavailable", "the time was up before it was done; it may or may not have taken effect", nil}
	}
	return ErrorDocument{500, "InternalError", "a defect of the scheduler; its log says more", nil}
}

// summarized is how many problems a message repeats; the details have all.
const summarized = 5

// summary is the problems on one line.
func summary(all document.Problems) string {
	texts := make([]string, 0, summarized+1)
	for i, p := range all {
		if i == summarized {
			texts = append(texts, fmt.Sprintf("and %d more", len(all)-summarized))
			break
		}
		texts = append(texts, p.Error())
	}
	return strings.Join(texts, "; ")
}

// problemsIn returns every problem in err's tree, in order.
func problemsIn(err error) document.Problems {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case document.Problems:
		return e
	case document.Problem:
		return document.Problems{e}
	case interface{ Unwrap() error }:
		return problemsIn(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all document.Problems
		for _, inner := range e.Unwrap() {
			all = append(all, problemsIn(inner)...)
		}
		return all
	}
	return nil
}

// Document returns the whole document, with its member "error".
func (d ErrorDocument) Document() document.Value {
	return document.ObjectValue(document.Member{Name: "error", Value: d.Value()})
}

// Value returns what the member "error" holds.
func (d ErrorDocument) Value() document.Value {
	members := []document.Member{member("code", d.Code), member("message", d.Message)}
	if len(d.Details) > 0 {
		items := make([]document.Value, len(d.Details))
		for i, p := range d.Details {
			items[i] = document.ObjectValue(member("path", p.Path), member("message", p.Message))
		}
		members = append(members, document.Member{Name: "details", Value: document.ArrayValue(items...)})
	}
	return document.ObjectValue(members...)
}
