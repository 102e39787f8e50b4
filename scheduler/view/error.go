package view

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Error is an error as every API of the scheduler tells it:
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
type Error struct {
	Status  int               `json:"-"` // as in HTTP; the NATS API uses the same numbers
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Details document.Problems `json:"details,omitempty"`
}

// DescribeError returns the view of an error of the service. What matches
// none of the sentinels is a defect: its text is left out, so the caller
// should log it.
func DescribeError(err error) Error {
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		p := scheduler.ProblemsIn(err)
		if len(p) == 0 {
			return Error{400, "BadRequest", err.Error(), nil}
		}
		return Error{400, "BadRequest", summary(p), p}
	case errors.Is(err, scheduler.ErrNotFound):
		return Error{404, "ResourceNotFound", err.Error(), nil}
	case errors.Is(err, scheduler.ErrConflict):
		return Error{409, "Conflict", err.Error(), nil}
	case errors.Is(err, scheduler.ErrUnavailable):
		return Error{503, "ServiceUnavailable", err.Error(), nil}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Error{503, "ServiceUnavailable", "the time was up before it was done; it may or may not have taken effect", nil}
	}
	return Error{500, "InternalError", "a defect of the scheduler; its log says more", nil}
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

// Document is an error as the body of an answer.
type Document struct {
	Error Error `json:"error"`
}

// Document returns the whole document, with its member "error".
func (e Error) Document() Document { return Document{e} }
