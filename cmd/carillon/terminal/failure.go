package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// failureDocument is an error for programs, in the shape of those of the REST API.
type failureDocument struct {
	Error failureView `json:"error"`
}

type failureView struct {
	Code    string          `json:"code"`
	Message string          `json:"message"`
	Hint    string          `json:"hint,omitempty"`
	Details []failureDetail `json:"details,omitempty"`
}

type failureDetail struct {
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// failureCodes are the words for exit codes; those of the REST API where it has them.
var failureCodes = map[int]string{
	ExitFailure: "Failure", ExitUsage: "Usage", ExitNotFound: "ResourceNotFound", ExitConflict: "Conflict",
	ExitUnavailable: "ServiceUnavailable",
}

// failJSON prints an error that ends with an exit code.
func (t *Terminal) failJSON(err error, code int) {
	v := failureView{Code: failureCode(err, code), Message: err.Error(), Hint: t.HintOf(err), Details: details(err)}
	if r, ok := errors.AsType[*reportedError](err); ok && len(r.all) > 1 {
		v.Message = fmt.Sprintf("%d things went wrong", len(r.all))
	} else if ok {
		v.Message, v.Hint = whole(v.Details[0]), cmp.Or(v.Hint, v.Details[0].Hint)
	}
	v.Message = strings.ReplaceAll(v.Message, "\n", "; ")
	_ = printJSON(t.Err, failureDocument{v}) // a reader that has gone learns nothing more
}

// whole is the message of something that went wrong alone.
func whole(d failureDetail) string {
	if d.Path == "" || strings.Contains(d.Message, d.Path) {
		return d.Message
	}
	return d.Path + ": " + d.Message
}

// failureCode is the word of the server that refused something or, without one, of the exit code.
func failureCode(err error, code int) string {
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code != "" && !is[*usageError](err) {
		return e.Code
	}
	if code == ExitFailure && errors.Is(err, scheduler.ErrInvalid) {
		return "BadRequest"
	}
	return failureCodes[code]
}

// details are the single things that went wrong, if there are such.
func details(err error) []failureDetail {
	var all []failureDetail
	if r, ok := errors.AsType[*reportedError](err); ok {
		for _, one := range r.all {
			d := failureDetail{Message: one.Error()}
			if f, ok := errors.AsType[*Failure](one); ok {
				d = failureDetail{f.Path, f.Message, f.Hint}
			}
			all = append(all, d)
		}
		return all
	}
	for _, p := range scheduler.ProblemsIn(err) {
		all = append(all, failureDetail{Path: p.Path, Message: p.Message})
	}
	if lines := strings.Split(err.Error(), "\n"); all == nil && len(lines) > 1 {
		for _, line := range lines {
			all = append(all, failureDetail{Message: line})
		}
	}
	return all
}
