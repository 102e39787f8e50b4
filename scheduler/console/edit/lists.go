package edit

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/jobform"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// A patch replaces a list as a whole, so the stored secrets in one stay when they are named, by their places. This is done
// when nothing tells that the element at a place is another one now: whoever moves elements types their secrets again.

// inLists are the stored secrets in lists that stay.
func (e *editing) inLists() []string {
	var keep []string
	for _, path := range e.Stored {
		if e.left(path) && e.inPlace(path) {
			keep = append(keep, path)
		}
	}
	return keep
}

// checkLists complains about stored secrets in lists that would be lost: nobody has said so.
func (e *editing) checkLists() {
	told := !e.usable // as the form does of its own rows
	for _, path := range e.Stored {
		if (told || !e.reshaped(path)) && (!e.left(path) || e.inPlace(path)) {
			continue
		}
		e.usable = false
		e.place(document.Problems{{Path: path, Message: e.call.Say("jobform.secret.moved")}})
	}
}

// left reports whether a stored secret in a list is to stay, as far as anybody has said: the list is another one, and has
// nothing in its place.
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

// reshaped reports whether what leads to a stored secret was one thing and is a list now, or the other way round, and the
// secret is missing where it would stand by that.
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

// turn is where something stands once the value at a path before it is a list of it, or is the list's first element.
type turn struct{ before, path string }

// turned are the turns of all values that a path leads through.
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

// elsewhere reports whether the element of a list that a path leads through stands at another place of it now.
func (e *editing) elsewhere(list, path string) bool {
	at := list + path[len(list):len(list)+strings.IndexByte(path[len(list):], ']')+1]
	was := jobform.At(e.base, at)
	return !jobform.At(e.mine, at).Equal(was) && slices.ContainsFunc(jobform.At(e.mine, list).Items(), was.Equal)
}

// inPlace reports whether the elements that a path leads through are those which were there. The form knows it of its own
// rows, if these were made of the job as it was opened. Of others it is so when there are as many, and none of them is what
// was at another place.
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

// alike reports whether the elements of two lists stand where they did, as far as can be told.
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
