package jobform

import (
	"strconv"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// itemMark is the input of an item that says that it is there.
const itemMark = "~item"

// errorAction is the member that has actions for a failure.
const errorAction = "errorAction"

// items makes the fields of objects, one after the other. Where the document has one of them in place of a list, it does as
// long as there is one.
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

// item is where an element stands: i tells it apart in the form, n in the document. One that is alone stands in place of the
// list, as one that was alone did.
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

// item reads an element that was there. What is no object cannot be shown, and stays.
func (w *walker) item(f *Field, members *document.Members, at spot, was document.Value) document.Value {
	v, some := w.members(f, members, members.Known, at, was, false)
	if was.Kind() == document.KindObject || some && was.Kind() == document.KindNull {
		return v
	}
	return was
}
