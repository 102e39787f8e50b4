package edit

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// A patch replaces a list as a whole. Stored secrets in the list stay if the patch refers to their positions. The
// editor does this unless the element at a position has changed: a user who moves elements must type their secrets
// again.

// inLists returns the paths of stored secrets in lists that stay.
func (e *editing) inLists() []string {
	return slices.DeleteFunc(slices.Clone(e.Stored), func(path string) bool { return !e.left(path) || !e.inPlace(path) })
}

// checkLists reports stored secrets in lists that would be lost without an explicit removal.
func (e *editing) checkLists() {
	reported := !e.valid // the form reports its own rows
	for _, path := range e.Stored {
		if (reported || !e.reshaped(path)) && (!e.left(path) || e.inPlace(path)) {
			continue
		}
		e.valid = false
		e.place(document.Problems{{Path: path, Message: e.call.Text("jobform.secret.moved")}})
	}
}

// left reports whether a stored secret in a changed list must stay because nothing replaces or removes it.
func (e *editing) left(path string) bool {
	lists := jobform.Lists(path)
	if len(lists) == 0 || jobform.Has(e.mine, path) {
		return false
	}
	if e.As == asForm {
		return slices.Contains(e.Reading.Kept, path)
	}
	is := jobform.At(e.mine, lists[0])
	if is.Kind() != document.KindArray || is.Equal(jobform.At(e.base, lists[0])) {
		return false
	}
	return jobform.At(e.mine, outer(path)).Kind() == document.KindObject || slices.ContainsFunc(lists, func(list string) bool {
		return e.elsewhere(list, path)
	})
}

// reshaped reports whether a value on the path of a stored secret has become a list, or the reverse, and the secret is
// missing at its new position.
func (e *editing) reshaped(path string) bool {
	for _, now := range turned(path) {
		around := jobform.At(e.base, now.before).Kind()
		is := jobform.At(e.mine, now.before).Kind()
		list := around == document.KindArray && is == document.KindObject || around == document.KindObject && is == document.KindArray
		if list && jobform.At(e.mine, outer(now.path)).Kind() == document.KindObject && !jobform.Has(e.mine, now.path) {
			return true
		}
	}
	return false
}

// turn maps a path to its new position after a value has become a list of it, or the list's first element.
type turn struct{ before, path string }

// turned returns the turns of all values along a path.
func turned(path string) []turn {
	var all []turn
	for i, c := range path {
		rest, first := strings.CutPrefix(path[i:], "[0]")
		switch {
		case first:
			all = append(all, turn{path[:i], path[:i] + rest})
		case c == '.':
			all = append(all, turn{path[:i], path[:i] + "[0]" + path[i:]})
		}
	}
	return all
}

// elsewhere reports whether the list element along a path has moved.
func (e *editing) elsewhere(list, path string) bool {
	at := list + path[len(list):len(list)+strings.IndexByte(path[len(list):], ']')+1]
	was := jobform.At(e.base, at)
	return !jobform.At(e.mine, at).Equal(was) && slices.ContainsFunc(jobform.At(e.mine, list).Items(), was.Equal)
}

// inPlace reports whether the list elements along a path have kept their positions. The form tracks its own rows if it
// was created from the opened job. Other elements have kept them if the length is the same and no element equals one at
// another position.
func (e *editing) inPlace(path string) bool {
	for _, list := range jobform.Lists(path) {
		was := jobform.At(e.base, list)
		if e.As == asForm && jobform.At(e.from, list).Equal(was) {
			continue
		}
		if !alike(was, jobform.At(e.mine, list)) {
			return false
		}
	}
	return true
}

// alike reports whether the elements of two lists seem to have the same positions.
func alike(was, is document.Value) bool {
	if was.Kind() != document.KindArray || is.Kind() != document.KindArray || len(was.Items()) != len(is.Items()) {
		return false
	}
	for i, item := range is.Items() {
		if !item.Equal(was.Items()[i]) && slices.ContainsFunc(was.Items(), item.Equal) {
			return false
		}
	}
	return true
}
