package document

import (
	"math"
	"slices"
	"time"
)

// Form is a format that readers accept for a value. A value with alternatives, such as an object or a list of objects,
// has several forms.
type Form struct {
	Kind FormKind
	Of   FormKind // the elements of a List, or the fields of an Object with free names; else nothing

	Words []string // of a Word or a list of words, in canonical spelling

	// The minimum and maximum of an Integer or of a list's integers: unlimited if math.MinInt32 and math.MaxInt32. For
	// a Length: in nanoseconds, unlimited if both are 0.
	Least, Most int64
}

// FormKind is the kind of a form.
type FormKind uint8

// The kinds of forms.
const (
	FormNothing FormKind = iota
	FormAny              // a value that readers ignore
	FormText             // a string
	FormWord             // one of some words
	FormBoolean          // true or false
	FormInteger          // a whole number
	FormNumber           // any number
	FormLength           // a duration: see [ParseDuration]
	FormTime             // a date or an instant: see [ParseTime]
	FormSecret           // a write-only string; as an object, the name of a shared secret
	FormList             // an array
	FormObject           // an object
)

// formKinds are the names of the kinds for people.
var formKinds = [...]string{
	FormNothing: "nothing", FormAny: "any value", FormText: "string", FormWord: "word", FormBoolean: "boolean", FormInteger: "integer",
	FormNumber: "number", FormLength: "duration", FormTime: "time", FormSecret: "secret", FormList: "list", FormObject: "object",
}

// String returns the name of the kind: "string", "list".
func (k FormKind) String() string { return formKinds[k] }

// Bounded reports whether the form has limits that differ from those of its encoding.
func (f Form) Bounded() bool {
	if f.Kind == FormLength {
		return f.Least != 0 || f.Most != 0
	}
	return f.integer() && (f.Least > math.MinInt32 || f.Most < math.MaxInt32)
}

func (f Form) integer() bool { return f.Kind == FormInteger || f.Of == FormInteger }

// add adds a form to a list, merging it into a form of its kind. Limits that differ are widened to include both.
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

// lengths returns the form of durations from least to most.
func lengths(least, most time.Duration) Form {
	return Form{Kind: FormLength, Least: int64(least), Most: int64(most)}
}
