package terminal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
)

// WithoutPath drops the operation and the path from the error of a file that the message names already.
func WithoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// wrapped is an error with more about it.
type wrapped struct{ error }

// Unwrap returns the error.
func (e wrapped) Unwrap() error { return e.error }

// usageError is a mistake on the command line.
type usageError struct{ wrapped }

// Usage says that an error is a mistake on the command line.
func Usage(err error) error { return &usageError{wrapped{err}} }

// Usagef is [fmt.Errorf] of a mistake on the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// FileError is an error about a file that a flag names: a usage error if the file cannot be read, otherwise
// about its content.
func FileError(flag string, err error) error {
	named := fmt.Errorf("--%s: %w", flag, err)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return Usage(named)
	}
	return named
}

// Split returns the errors that were joined, the error alone if none were, and none for nil.
func Split(err error) (all []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, Split(one)...)
	}
	return all
}

// hintedError says what to do about an error.
type hintedError struct {
	wrapped

	hint string
}

// Hinted adds a hint to an error; nil stays nil.
func Hinted(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hintedError{wrapped{err}, hint}
}

// Failure is one of several things that went wrong.
type Failure struct {
	Path    string `json:"path,omitempty"` // the subject, such as a job or a file; may be empty
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // what to do about it; may be empty
	Err     error  `json:"-"`              // which has the exit code
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns the error behind it.
func (f *Failure) Unwrap() error { return f.Err }

// reportedError is an error whose lines people have read already.
type reportedError struct {
	wrapped

	all []error
}

// Reported returns an error for errors that are already printed, each a [Failure] or any other. Its exit code is
// their common one, or [ExitFailure] if they differ. With --json, all of them are printed at the end.
// It is nil without errors.
func Reported(errs ...error) error {
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		if ExitCode(err) != ExitCode(errs[0]) {
			return &reportedError{wrapped{errSeveral}, errs}
		}
	}
	return &reportedError{wrapped{errs[0]}, errs}
}

var errSeveral = errors.New("several errors occurred")

// unavailableError is something this process needs and cannot have.
type unavailableError struct{ wrapped }

// Unavailable says that an error is about something this process needs and cannot have.
func Unavailable(err error) error { return &unavailableError{wrapped{err}} }

// Unavailablef is [fmt.Errorf] of something this process needs and cannot have.
func Unavailablef(format string, args ...any) error { return Unavailable(fmt.Errorf(format, args...)) }

// failureView is the JSON of an error, in the format of the REST API.
type failureView struct {
	Code    string     `json:"code"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Details []*Failure `json:"details,omitempty"`
}

// failureCodes maps exit codes to error codes of the REST API, or the nearest equivalent.
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
	_ = printJSON(t.Err, map[string]failureView{"error": v}) // a reader that has gone learns nothing more
}

// whole is the message of something that went wrong alone.
func whole(d *Failure) string {
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
func details(err error) (all []*Failure) {
	if r, ok := errors.AsType[*reportedError](err); ok {
		for _, one := range r.all {
			f, ok := errors.AsType[*Failure](one)
			if !ok {
				f = &Failure{Message: one.Error()}
			}
			all = append(all, f)
		}
		return all
	}
	for _, p := range scheduler.ProblemsIn(err) {
		all = append(all, &Failure{Path: p.Path, Message: p.Message})
	}
	if lines := strings.Split(err.Error(), "\n"); all == nil && len(lines) > 1 {
		for _, line := range lines {
			all = append(all, &Failure{Message: line})
		}
	}
	return all
}
