package scheduler

import (
	"errors"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// The errors that callers branch on. Every error of a [Service] matches one of
// them with [errors.Is], except for a canceled context and for defects.
var (
	// ErrInvalid means that the input is wrong; the error's tree holds
	// [document.Problems] with one path for each problem.
	ErrInvalid = errors.New("invalid")

	// ErrNotFound means that the job or collection does not exist.
	ErrNotFound = errors.New("not found")

	// ErrConflict means that the state of the job or collection does not
	// allow the operation, or that it was changed meanwhile.
	ErrConflict = errors.New("conflict")

	// ErrUnavailable means that the store could not be reached, or did not
	// answer in time. The operation may or may not have taken effect.
	ErrUnavailable = errors.New("unavailable")
)

// invalidError marks problems as ErrInvalid.
type invalidError struct{ problems error }

func (e *invalidError) Error() string        { return e.problems.Error() }
func (e *invalidError) Unwrap() error        { return e.problems }
func (e *invalidError) Is(target error) bool { return target == ErrInvalid }

// Invalid returns an error for one problem at path.
func Invalid(path, message string) error {
	return &invalidError{document.Problems{{Path: path, Message: message}}}
}

// AsInvalid marks err, a document's problems, as [ErrInvalid]; nil stays nil.
func AsInvalid(err error) error {
	if err == nil {
		return nil
	}
	return &invalidError{err}
}
