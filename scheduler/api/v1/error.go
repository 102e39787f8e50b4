package v1

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/auth"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Error is an error of an API:
//
//	{"error": {"code": "BadRequest", "message": "…", "details": [{"path": "recurrence.interval", "message": "…"}]}}
//
// details lists the problems of the input by path, at most 100. A message that repeats a long part of the input keeps
// only its beginning and end. Each code has one status:
//
//	400 BadRequest            the input is invalid (ErrInvalid)
//	401 AuthenticationFailed  the caller is unknown ([auth.Unknown])
//	403 AuthorizationFailed   the caller lacks a role ([auth.Denied])
//	404 ResourceNotFound      the job or collection does not exist (ErrNotFound)
//	409 Conflict              its state or a quota does not allow the request (ErrConflict)
//	412 PreconditionFailed    the condition of the request does not hold (ErrPrecondition)
//	503 ServiceUnavailable    the store did not answer in time; retry (ErrUnavailable)
//	500 InternalError         a defect of the scheduler; the message has no details
type Error struct {
	Status  int               `json:"-"` // as in HTTP; the NATS API uses the same numbers
	Code    string            `json:"code"`
	Message string            `json:"message"`
	Details document.Problems `json:"details,omitempty"`
}

// DescribeError returns the view of an error of the service. An error that matches no sentinel is a defect. The view
// omits its text, so the caller should log it.
func DescribeError(err error) Error {
	if unknown, ok := errors.AsType[*auth.Unknown](err); ok {
		return Error{401, "AuthenticationFailed", unknown.Error(), nil}
	}
	if denied, ok := errors.AsType[*auth.Denied](err); ok {
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

// longest limits the message of an error, in bytes.
const longest = 4 << 10

// short returns an error's text, without its middle if it is long.
func short(err error) string { return document.Cut(err.Error(), longest) }

// summarized limits the problems in a message; the details have all.
const summarized = 5

// summary returns the problems on one line.
func summary(all document.Problems) string {
	texts := make([]string, 0, summarized+1)
	for _, p := range all[:min(len(all), summarized)].Short() {
		texts = append(texts, p.Error())
	}
	if len(all) > summarized {
		texts = append(texts, fmt.Sprintf("and %d more", len(all)-summarized)) // or even more: the details hold at most 100
	}
	return strings.Join(texts, "; ")
}

// Document is the body of an error response.
type Document struct {
	Error Error `json:"error"`
}

// Document returns e as a document with the field "error".
func (e Error) Document() Document { return Document{e} }
