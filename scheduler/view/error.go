package view

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Error is an error as every API of the scheduler tells it:
//
//	{"error": {"code": "BadRequest", "message": "…", "details": [{"path": "recurrence.interval", "message": "…"}]}}
//
// details is there when single places of the input are to blame, and names
// all of them, up to a hundred. Of what a message repeats of the input, and is
// long, the beginning and the end are told. Codes and status numbers belong together:
//
//	400 BadRequest          the input is wrong (ErrInvalid)
//	401 AuthenticationFailed  it is not known who asks ([access.Unknown])
//	403 AuthorizationFailed  who asks lacks a role ([access.Denied])
//	404 ResourceNotFound    the job or collection does not exist (ErrNotFound)
//	409 Conflict            its state, or a quota, does not allow it (ErrConflict)
//	412 PreconditionFailed  it is not as the request expects it to be (ErrPrecondition)
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
	if unknown, ok := errors.AsType[*access.Unknown](err); ok {
		return Error{401, "AuthenticationFailed", unknown.Error(), nil}
	}
	if denied, ok := errors.AsType[*access.Denied](err); ok {
		return Error{403, "AuthorizationFailed", denied.Error(), nil}
	}
	switch {
	case errors.Is(err, scheduler.ErrInvalid):
		p := scheduler.ProblemsIn(err)
		if len(p) == 0 {
			return Error{400, "BadRequest", short(err), nil}
		}
		return Error{400, "BadRequest", summary(p), p.Short()}
	case errors.Is(err, scheduler.ErrNotFound):
		return Error{404, "ResourceNotFound", short(err), nil}
	case errors.Is(err, scheduler.ErrConflict):
		return Error{409, "Conflict", short(err), nil}
	case errors.Is(err, scheduler.ErrPrecondition):
		return Error{412, "PreconditionFailed", short(err), nil}
	case errors.Is(err, scheduler.ErrUnavailable):
		return Error{503, "ServiceUnavailable", short(err), nil}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return Error{503, "ServiceUnavailable", "the time was up before it was done; it may or may not have taken effect", nil}
	}
	return Error{500, "InternalError", "a defect of the scheduler; its log says more", nil}
}

// longest is how long the message of an error may be, in bytes.
const longest = 4 << 10

// short is an error's text, without its middle when it is long.
func short(err error) string { return document.Cut(err.Error(), longest) }

// summarized is how many problems a message repeats; the details have all.
const summarized = 5

// summary is the problems on one line.
func summary(all document.Problems) string {
	texts := make([]string, 0, summarized+1)
	for _, p := range all[:min(len(all), summarized)].Short() {
		texts = append(texts, p.Error())
	}
	if len(all) > summarized {
		texts = append(texts, fmt.Sprintf("and %d more", len(all)-summarized)) // or still more, when there are a hundred
	}
	return strings.Join(texts, "; ")
}

// Document is an error as the body of an answer.
type Document struct {
	Error Error `json:"error"`
}

// Document returns the whole document, with its member "error".
func (e Error) Document() Document { return Document{e} }
