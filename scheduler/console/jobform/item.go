package jobform

import (
	"strconv"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// itemMark is the input of an item that says that it is there.
const itemMark = "~item"

// items makes the fields of objects, one after the other. Where the document has one of them in place of a list, it does as
// long as there is one.
func (w *walker) items(s *document.Shape, around *document.Members, at spot, base got) (*Field, got) {
	f := newField(KindItems, s, at)
	members := s.Members
	if members == nil || members.Recurs {
		members = around
	}
	alone := base.v.Kind() == document.KindObject
	was := base.v.Items()
	if alone {
		was = []document.Value{base.v}
	}
	if base.ok && base.v.Kind() != document.KindNull && !alone && base.v.Kind() != document.KindArray {
		return w.leaf(s, at, base)
	}
	_, mayBeAlone := s.Form(document.FormObject)
	tokens := w.tokens(at.name, "[", len(was))
	alone = mayBeAlone && len(tokens) <= 1 && (alone || len(was) == 0)
	var now []document.Value
	for n, i := range tokens {
		here := spot{
			name: at.name + "[" + strconv.Itoa(i) + "]", path: at.path + "[" + strconv.Itoa(n) + "]",
			was: at.was + "[" + strconv.Itoa(i) + "]", key: at.key,
		}
		if alone {
			here.path = at.path
		}
		if base.v.Kind() == document.KindObject {
			here.was = at.was
		}
		var b document.Value
		if i < len(was) {
			b = was[i]
		}
		item := &Field{Kind: KindObject, Name: here.name, ID: "f-" + here.name, Path: here.path, Label: words.Say("jobform.item", f.Label, n+1)}
		item.Focus = w.values != nil && !w.values.Has(here.name+itemMark)
		v, any := w.members(item, members, members.Known, here, b, false)
		if i < len(was) && b.Kind() != document.KindObject && !(any && b.Kind() == document.KindNull) {
			v = b // no form can show it
		}
		f.Items = append(f.Items, item)
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
