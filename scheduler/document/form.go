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
	switch {
	case i < 0 && f.Kind == FormAny && len(forms) > 0: // it is nothing new
		return forms
	case i < 0:
		return append(slices.DeleteFunc(forms, func(g Form) bool { return g.Kind == FormAny }), f)
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
