package spec

import (
	"errors"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// below puts the paths of problems under a member.
func below(member string, err error) error {
	problems, ok := errors.AsType[document.Problems](err)
	if !ok {
		return err
	}
	moved := make(document.Problems, len(problems))
	for i, p := range problems {
		p.Path = member + "." + p.Path
		moved[i] = p
	}
	return moved
}

// problemsOf turns what is wrong with the text of a schedule into problems at a path.
func problemsOf(path string, err error) document.Problems {
	var list document.Problems
	for _, one := range flatten(err) {
		list = append(list, document.Problem{Path: path, Message: one.Error(), Cause: one})
	}
	return list
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		return []error{err}
	}
	var list []error
	for _, one := range joined.Unwrap() {
		list = append(list, flatten(one)...)
	}
	return list
}
