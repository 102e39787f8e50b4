package document

import (
	"math"
	"slices"
	"time"
)

// Form is a form in which readers take a value. One that may be written in several ways, such as an object or a list of them,
// has several.
type Form struct {
	Kind FormKind
	Of   FormKind // the elements of a List, or the members of an Object whose names are free; else nothing

	Words []string // of Word, or of a list of them, in canonical spelling

	// The least and the most that an Integer may be, or the integers of a list: no limit if math.MinInt32 and
	// math.MaxInt32. Of a Length: in nanoseconds, no limit if both are 0.
	Least, Most int64
}

// FormKind is a kind of values, as readers ask for them.
type FormKind uint8

// The kinds of forms.
const (
	FormNothing FormKind = iota
	FormAny              // a value that readers pass over
	FormText             // a string
	FormWord             // one of some words
	FormBoolean          // true or false
	FormInteger          // a whole number
	FormNumber           // any number
	FormLength           // a duration: see [ParseDuration]
	FormTime             // a date or an instant: see [ParseTime]
	FormSecret           // a string that is written and never shown; the object beside it names a shared one
	FormList             // an array
	FormObject           // an object
)

// formKinds are the kinds as they are told to people.
var formKinds = [...]string{
	FormNothing: "nothing", FormAny: "any value", FormText: "string", FormWord: "word", FormBoolean: "boolean", FormInteger: "integer",
	FormNumber: "number", FormLength: "duration", FormTime: "time", FormSecret: "secret", FormList: "list", FormObject: "object",
}

// String returns the kind as people call it: "string", "list".
func (k FormKind) String() string { return formKinds[k] }

// Bounded reports whether the form has a limit that differs from those of what it is written in.
func (f Form) Bounded() bool {
	if f.Kind == FormLength {
		return f.Least != 0 || f.Most != 0
	}
	return f.integer() && (f.Least > math.MinInt32 || f.Most < math.MaxInt32)
}

func (f Form) integer() bool { return f.Kind == FormInteger || f.Of == FormInteger }

// add adds a form to some, into the one of its kind if there is one. What differs is as wide as both.
func (f Form) add(forms []Form) []Form {
	i := slices.IndexFunc(forms, func(g Form) bool { return g.Kind == f.Kind && g.Of == f.Of })
	if i < 0 {
		return append(forms, f)
	}
	g := &forms[i]
	for _, word := range f.Words {
		if !slices.Contains(g.Words, word) {
			g.Words = append(g.Words, word)
		}
	}
	switch {
	case f.Kind == FormLength && f.Bounded() != g.Bounded():
		g.Least, g.Most = 0, 0
	default:
		g.Least, g.Most = min(g.Least, f.Least), max(g.Most, f.Most)
	}
	return forms
}

// lengths is the form of durations from least to most.
func lengths(least, most time.Duration) Form {
	return Form{Kind: FormLength, Least: int64(least), Most: int64(most)}
}

// asked is something that a reader wanted of an object: a form of the member name, that it be there, or, without a name,
// what is noted of the object itself.
type asked struct {
	object *Object
	name   string
	form   Form
	note   note
}

// note is what a reader says of a member or an object, beside a form.
type note uint8

const (
	noteNone     note = iota
	noteRequired      // the member has to be there
	noteEither        // one of these members has to be
	noteClosed        // the object has no other members than those that were asked for
	noteOpen          // it may have any
)

// wants notes that a reader wants the member in a form, for whoever explores it: one of some words, if there are any. These
// are given beside the form for them not to be on the heap when nobody explores.
func (o *Object) wants(name string, f Form, words ...string) {
	if v := o.reader.explored; v != nil {
		f.Words = slices.Clone(words)
		v.asked = append(v.asked, asked{o, name, f, noteNone})
	}
}

// notes keeps what a reader says of a member, or of the object itself if name is "", for whoever explores it.
func (o *Object) notes(name string, n note) {
	if v := o.reader.explored; v != nil {
		v.asked = append(v.asked, asked{o, name, Form{}, n})
	}
}
