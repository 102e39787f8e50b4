package document

import (
	"slices"
	"strings"
)

// ShapeOf returns what a reader takes, which it learns from the reader itself: it has it read documents, beginning with an
// empty one, and notes what is asked for ([Object.String], [Object.Require] and the others). Where that may depend on what
// is in a document, it has the reader read others, in which
//
//   - a word is each of those that are allowed, and what may be true is true;
//   - a member that is only looked at ([Object.Has], [Object.Value]) is once of each kind: what the reader then asks for is
//     what the member may be, and if it asks for nothing, the member is none that a document may have;
//   - an object that may have members of any name, as [Object.Done] is not called on it, has one with the name "*".
//
// An object whose member type is one of some words, and is asked for first, is of a kind for each of them. A member
// errorAction is taken for an action, like the one it stands in.
func ShapeOf(read func(o *Object)) *Shape {
	e := explorer{read: read, tried: map[string]bool{}, root: draft{forms: []Form{{Kind: FormObject}}}}
	e.try(trial{document: ObjectValue()})
	for len(e.trials) > 0 {
		next := e.trials[0]
		e.trials = e.trials[1:]
		e.explore(next)
	}
	return e.root.shape("")
}

// explorer has documents read.
type explorer struct {
	read   func(o *Object)
	root   draft
	trials []trial // that are still to be read
	tried  map[string]bool
	asked  []asked // of the document before; its space is used again
}

// trial is a document that is read to see what is asked for.
type trial struct {
	document Value
	guessed  bool   // it has a member that was only looked at
	changed  []step // where it differs from one that was read before
}

// draft is what is known so far of a place in the document.
type draft struct {
	forms    []Form
	required bool
	either   bool
	members  drafts            // of an object
	kinds    map[string]*draft // of an object whose member type tells its kind, by that; nil: there is one kind
	words    []string          // of that member
	one      bool              // it is one of the kinds of an object
	closed   bool
	open     bool
	recurs   bool
}

// drafts are the members of an object, in the order in which they were asked for.
type drafts struct {
	names []string
	named map[string]*draft
}

func (d *drafts) get(name string) *draft {
	if d.named[name] == nil {
		if d.named == nil {
			d.named = map[string]*draft{}
		}
		d.names, d.named[name] = append(d.names, name), &draft{}
	}
	return d.named[name]
}

// try lets a document be read once. Guesses come first: what they tell need not be guessed again.
func (e *explorer) try(t trial) {
	key := t.document.String()
	if e.tried[key] {
		return
	}
	e.tried[key] = true
	if t.guessed {
		e.trials = slices.Insert(e.trials, 0, t)
	} else {
		e.trials = append(e.trials, t)
	}
}

// explore has a document read, and goes on with those that its answers lead to.
func (e *explorer) explore(t trial) {
	v, r := &Vocabulary{asked: e.asked[:0]}, NewReader()
	r.explored = v
	e.read(r.Object(t.document.Clone(), ""))
	e.asked = v.asked
	ways := map[*Object][]step{}
	for _, a := range v.asked {
		if _, known := ways[a.object]; !known {
			ways[a.object] = a.object.steps()
		}
	}
	wanted := slices.DeleteFunc(v.asked, func(a asked) bool { return slices.ContainsFunc(ways[a.object], step.recurs) })
	places := map[*Object]*draft{}
	for _, a := range wanted {
		if places[a.object] == nil {
			places[a.object] = e.place(t.document, ways[a.object])
		}
		if a.name == "type" && a.form.Kind == FormWord {
			places[a.object].split(a.form.Words)
			places[a.object] = e.place(t.document, ways[a.object])
		}
		places[a.object].file(a)
	}
	for _, a := range wanted {
		if a.name != "" {
			e.follow(t, a, ways[a.object], places[a.object].members.get(a.name))
		}
	}
}

// step is one on the way from the document to a place in it.
type step struct {
	name  string
	index int // -1: the member itself
}

// recurs reports whether the step leads into an object like the one that it stands in.
func (s step) recurs() bool { return s.name == errorAction }

// steps returns the way to an object.
func (o *Object) steps() []step {
	if o.place.object == nil {
		return nil
	}
	return append(o.place.object.steps(), step{o.place.name, o.place.index})
}

// place returns what is known of an object of a document.
func (e *explorer) place(v Value, way []step) *draft {
	d := e.root.kind(v)
	for _, s := range way {
		v = v.at(s)
		d = d.members.get(s.name).kind(v)
	}
	return d
}

// way returns the names on the way to a place in a document, with the kinds of the objects there.
func (e *explorer) way(v Value, steps []step) string {
	var b strings.Builder
	d := &e.root
	for _, s := range steps {
		if d.kinds != nil {
			kind, _ := v.Member("type")
			b.WriteString(kind.text)
		}
		b.WriteString("/" + s.name)
		d, v = d.kind(v).members.get(s.name), v.at(s)
	}
	return b.String()
}

// at returns what is at a step from v.
func (v Value) at(s step) Value {
	v, _ = v.Member(s.name)
	if s.index >= 0 && s.index < len(v.items) {
		return v.items[s.index]
	}
	return v
}

// split makes an object one of several kinds.
func (d *draft) split(words []string) {
	if d.kinds == nil && !d.one {
		d.kinds, d.words = map[string]*draft{}, words
	}
}

// kind returns what is known of an object of the kind that it has in a document.
func (d *draft) kind(v Value) *draft {
	if d.kinds == nil {
		return d
	}
	word, _ := v.Member("type")
	if !slices.Contains(d.words, word.text) {
		word.text = "" // of those that do not tell their kind
	}
	return d.known(word.text)
}

// known returns what is known of the kind of a word.
func (d *draft) known(word string) *draft {
	if d.kinds[word] == nil {
		d.kinds[word] = &draft{one: true}
	}
	return d.kinds[word]
}

// file notes what was asked for of an object.
func (d *draft) file(a asked) {
	if a.name != "" {
		d = d.members.get(a.name)
	}
	switch a.note {
	case noteRequired:
		d.required = true
	case noteEither:
		d.either = true
	case noteClosed:
		d.closed = true
	case noteOpen:
		d.open = true
	case noteNone:
		if a.form.Kind != FormNothing {
			d.forms = a.form.add(d.forms)
		}
		d.recurs = (step{name: a.name}).recurs()
	}
}

// follow tries what may come of an answer about a member of the object at a place.
func (e *explorer) follow(t trial, a asked, around []step, d *draft) {
	if a.form.Kind == FormNothing && (t.guessed || len(d.forms) > 0) || a.note != noteNone || !a.form.leads() {
		return
	}
	way := append(slices.Clone(around), step{a.name, -1})
	key := a.form.Kind.String() + " " + e.way(t.document, way)
	again := a.form.Kind == FormNothing && t.within(way)
	if e.tried[key] && !again || d.recurs && a.form.Kind != FormNothing {
		return
	}
	e.tried[key] = true
	switch a.form.Kind { //nolint:exhaustive // the others do not lead further
	case FormNothing:
		e.trySet(trial{t.document, true, nil}, way, oneOfEach...)
	case FormWord:
		for _, word := range a.form.Words {
			e.trySet(t, way, StringValue(word))
		}
	case FormBoolean:
		e.trySet(t, way, BoolValue(true))
	case FormSecret:
		e.trySet(t, way, ObjectValue())
	case FormObject:
		if !d.closed && a.form.Of == FormNothing {
			e.trySet(t, append(way, step{freeName, -1}), oneOfEach...)
		}
	}
}

// leads reports whether what a reader asks for may depend on a value of the form.
func (f Form) leads() bool {
	switch f.Kind { //nolint:exhaustive // all others do not
	case FormNothing, FormWord, FormBoolean, FormSecret, FormObject:
		return true
	}
	return false
}

// freeName is a name that stands for all where they are free.
const freeName = "*"

// oneOfEach is a value of each kind but null.
var oneOfEach = []Value{BoolValue(true), NumberValue("1"), StringValue("x"), ArrayValue(), ObjectValue()}

// trySet tries a document with other values at a place.
func (e *explorer) trySet(t trial, way []step, values ...Value) {
	for _, v := range values {
		changed := t.document.put(v, way)
		guessed := t.guessed && !slices.Equal(t.changed, way) // a guess that was right is none
		e.try(trial{changed, guessed, way})
	}
}

// within reports whether the document differs from another in the object of a member, or further inside: what is said of
// the one may depend on the other, but not on one with a free name.
func (t trial) within(member []step) bool {
	around := member[:len(member)-1]
	return len(t.changed) > len(around) && t.changed[len(t.changed)-1].name != freeName && slices.Equal(t.changed[:len(around)], around)
}

// put returns v with a value at a place, in objects and arrays that are made where there are none.
func (v Value) put(value Value, way []step) Value {
	if len(way) == 0 {
		return value
	}
	s := way[0]
	inner, _ := v.Member(s.name)
	if s.index < 0 {
		return v.With(inner.put(value, way[1:]), s.name)
	}
	var item Value
	if len(inner.items) > 0 {
		item = inner.items[0]
	}
	return v.With(ArrayValue(item.put(value, way[1:])), s.name)
}

// shape returns what was learned of a place.
func (d *draft) shape(name string) *Shape {
	s := &Shape{Name: name, Required: d.required, Forms: d.forms}
	if len(s.Forms) > 1 {
		s.Forms = slices.DeleteFunc(s.Forms, func(f Form) bool { return f.Kind == FormAny })
	}
	isObject := func(f Form) bool { return f.Kind == FormObject && f.Of == FormNothing || f.Of == FormObject }
	if slices.ContainsFunc(s.Forms, isObject) {
		s.Members = d.shapes()
	}
	return s
}

// shapes returns what was learned of the members of an object.
func (d *draft) shapes() *Members {
	if d.kinds != nil {
		return d.shapesOfKinds()
	}
	m := &Members{Open: d.open || !d.closed, Recurs: d.recurs}
	for _, name := range d.members.names {
		inner := d.members.named[name]
		switch {
		case inner.either:
			m.Either = append(m.Either, name)
			fallthrough
		case len(inner.forms) > 0 && name != freeName:
			m.Known = append(m.Known, inner.shape(name))
		case len(inner.forms) > 0:
			m.Free, m.Open = inner.shape(name), false
		}
	}
	return m
}

// shapesOfKinds returns what was learned of an object of several kinds. Those that are alike are one.
func (d *draft) shapesOfKinds() *Members {
	m := &Members{}
	for _, word := range d.words {
		d.known(word).members.get("type").required = d.known("").members.get("type").required
		one := d.known(word).shapes()
		i := slices.IndexFunc(m.Kinds, func(k ObjectKind) bool { return k.Members.equal(one) })
		if i < 0 {
			i, m.Kinds = len(m.Kinds), append(m.Kinds, ObjectKind{Members: one})
		}
		m.Kinds[i].Words = append(m.Kinds[i].Words, word)
	}
	if untold := d.known("").shapes(); len(m.Kinds) == 1 && m.Kinds[0].Members.equal(untold) {
		return untold // its type tells nothing
	}
	return m
}
