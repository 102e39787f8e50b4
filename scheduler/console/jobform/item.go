package jobform

import (
	"strconv"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// itemMark is the input that marks an existing item.
const itemMark = "~item"

// errorAction is the field with the error actions.
const errorAction = "errorAction"

// items creates the fields of a list of objects. If the document has a single object in place of the list, it stays one
// as long as the list has one element.
func (w *walker) items(s *document.Shape, around *document.Members, at spot, base got) (*Field, got) {
	var was []document.Value
	switch base.v.Kind() {
	case document.KindNull:
	case document.KindArray:
		was = base.v.Items()
	case document.KindObject:
		if _, mayBe := s.Form(document.FormObject); !mayBe {
			return w.leaf(s, at, base)
		}
		was = []document.Value{base.v}
	case document.KindBool, document.KindNumber, document.KindString:
		return w.leaf(s, at, base)
	}
	f := newField(KindItems, s, at)
	members := s.Members
	if members == nil || members.Recurs {
		members = around
	}
	_, mayBeAlone := s.Form(document.FormObject)
	tokens := w.tokens(at.name, "[", len(was))
	alone := mayBeAlone && len(tokens) <= 1 && (base.v.Kind() == document.KindObject || len(was) == 0)
	var now []document.Value
	for n, i := range tokens {
		here := at.item(i, n, alone, base.v.Kind() == document.KindObject)
		item := &Field{Kind: KindObject, Name: here.name, ID: "f-" + here.name, Path: here.path}
		item.Label = words.Say("jobform.item", f.Label, n+1)
		item.Try = w.in.Tries && lastName(at.key) == errorAction
		item.Focus = w.values != nil && !w.values.Has(here.name+itemMark)
		f.Items = append(f.Items, item)
		if i < len(was) {
			now = append(now, w.item(item, members, here, was[i]))
			continue
		}
		v, _ := w.members(item, members, members.Known, here, document.Value{}, false)
		now = append(now, v)
	}
	switch {
	case len(now) == 0 && base.ok && len(was) == 0:
		return f, base
	case len(now) == 0:
		return f, got{}
	case alone:
		return f, got{now[0], true}
	}
	return f, got{document.ArrayValue(now...), true}
}

// item returns the position of an element: i is its number in the form, n in the document. alone, wasAlone: the element
// is, or was, a single object in place of the list.
func (s spot) item(i, n int, alone, wasAlone bool) spot {
	here := spot{
		name: s.name + "[" + strconv.Itoa(i) + "]", path: s.path + "[" + strconv.Itoa(n) + "]",
		was: s.was + "[" + strconv.Itoa(i) + "]", key: s.key,
	}
	if alone {
		here.path = s.path
	}
	if wasAlone {
		here.was = s.was
	}
	return here
}

// item parses an existing element. An element that is not an object has no fields and stays unchanged.
func (w *walker) item(f *Field, members *document.Members, at spot, was document.Value) document.Value {
	v, some := w.members(f, members, members.Known, at, was, false)
	if was.Kind() == document.KindObject || some && was.Kind() == document.KindNull {
		return v
	}
	return was
}
