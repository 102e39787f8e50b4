package scheduler

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Sentinel errors for callers. Every error of package control matches one of them with [errors.Is], except for a
// canceled context and for defects.
var (
	// ErrInvalid means that the input is invalid. The error's tree holds [document.Problems] with one path for each
	// problem.
	ErrInvalid = errors.New("invalid")

	// ErrNotFound means that the job or collection does not exist.
	ErrNotFound = errors.New("not found")

	// ErrConflict means that the state of the job or collection does not allow the operation, or that a concurrent
	// change won.
	ErrConflict = errors.New("conflict")

	// ErrPrecondition means that the [Condition] of a request did not hold.
	ErrPrecondition = errors.New("precondition failed")

	// ErrUnavailable means that the store could not be reached, or did not answer in time. The operation may have taken
	// effect.
	ErrUnavailable = errors.New("unavailable")
)

// invalidError marks problems as ErrInvalid.
type invalidError struct{ problems error }

func (e *invalidError) Error() string        { return e.problems.Error() }
func (e *invalidError) Unwrap() error        { return e.problems }
func (e *invalidError) Is(target error) bool { return target == ErrInvalid }

// Invalid returns an [ErrInvalid] with one problem at path.
func Invalid(path, message string) error {
	return &invalidError{document.Problems{{Path: path, Message: message}}}
}

// AsInvalid marks err, document problems, as [ErrInvalid]; nil, and no problems, become nil.
func AsInvalid(err error) error {
	if problems, ok := err.(document.Problems); err == nil || ok && len(problems) == 0 { //nolint:errorlint // not wrapped
		return nil
	}
	return &invalidError{err}
}

// Ignore returns err, or nil if it matches one of the targets.
func Ignore(err error, targets ...error) error {
	if slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) }) {
		return nil
	}
	return err
}

// ProblemsIn returns every problem in err's tree, in order.
func ProblemsIn(err error) document.Problems {
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case document.Problems:
		return e
	case document.Problem:
		return document.Problems{e}
	case interface{ Unwrap() error }:
		return ProblemsIn(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all document.Problems
		for _, inner := range e.Unwrap() {
			all = append(all, ProblemsIn(inner)...)
		}
		return all
	}
	return nil
}

// CheckSize returns [ErrInvalid] if n bytes exceed the limit of a job or collection document.
func CheckSize(n int) error {
	if n <= MaxJobSize {
		return nil
	}
	return Invalid("", fmt.Sprintf("the document is %d bytes long, at most %d (16 KB) are allowed", n, MaxJobSize))
}

// CheckNoDocument returns [ErrInvalid] for the body of a request that takes no document, unless it is empty or an
// object without fields. A client would otherwise assume that the body had an effect.
func CheckNoDocument(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	v, err := ParseDocument(body)
	if err != nil {
		return err
	}
	if v.Kind() != document.KindObject {
		return Invalid("", "this takes no document, and this is "+v.Kind().String())
	}
	var wrong document.Problems
	for _, m := range v.Members() {
		wrong = append(wrong, document.Problem{Path: m.Name, Message: "unknown field; this takes no document"})
	}
	if wrong == nil {
		return nil
	}
	return AsInvalid(wrong)
}

// ParseDocument parses a request body, JSON or YAML. The error matches [ErrInvalid]: the body exceeds [MaxJobSize], or
// is not a document.
func ParseDocument(body []byte) (document.Value, error) {
	if err := CheckSize(len(body)); err != nil {
		return document.Value{}, err
	}
	v, err := document.Parse(body)
	return v, AsInvalid(err)
}
