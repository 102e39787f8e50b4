package document

import (
	"fmt"
	"sync"
)

// Reader collects problems while a document is read. Use [NewReader].
type Reader struct {
	// Stored marks a document that was accepted before. Expensive checks, and additions for answers, are skipped.
	Stored bool

	// Trusted marks a document that is byte for byte the canonical form written when it was accepted. Its checks are
	// skipped, and problems may lack a path: on a problem, read the document again without trust.
	Trusted bool

	// Data is an object with the values for the document's templates. Zero: no values. The reader of a template must
	// check that the values it uses exist.
	Data Value

	// Input is a JSON Schema. Templates may use the names of its properties, because a run may supply their values.
	Input Value

	// Warnings are surprising but valid values, with their paths.
	Warnings []Problem

	problems Problems
	unnamed  int      // problems beyond the first maxProblems, which are only counted
	uses     []string // of Data
	refs     []SecretRef
	secret   bool // a secret in the document was read

	words   func() *Shape // nil: only fields that an object was asked for are known
	base    string        // path of the object with that shape in the document
	unknown []unknownField
	opened  []location // objects read so far
	asked   []location // objects requested so far
}

// NewReader returns a reader without problems.
func NewReader() *Reader { return &Reader{} }

// Knows sets the shape of the whole document, so that the problem of a misplaced field names the right object. base is
// the path of the object with that shape. shape is called only if a field is unknown.
func (r *Reader) Knows(base string, shape func() *Shape) {
	r.opened, r.asked = make([]location, 0, usualMembers), make([]location, 0, 2*usualMembers)
	r.base, r.words = base, sync.OnceValue(shape)
}

// Problem adds a problem at path.
func (r *Reader) Problem(path, format string, args ...any) { //nolint:goprintffuncname // it adds a Problem
	if r.full() {
		return
	}
	r.add(Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// add adds a problem, up to the limit.
func (r *Reader) add(p Problem) {
	if !r.full() {
		r.problems = append(r.problems, p)
	}
}

// full reports whether the limit of problems is reached, and then counts one more.
func (r *Reader) full() bool {
	if len(r.problems) < maxProblems {
		return false
	}
	r.unnamed++
	return true
}

// Problems returns the number of problems so far. Compare it before and after you read part of a document.
func (r *Reader) Problems() int { return len(r.problems) + r.unnamed }

// UseData records the names of [Reader.Data] that a template uses; * represents all.
func (r *Reader) UseData(names ...string) { r.uses = append(r.uses, names...) }

// UsedData returns the names recorded by [Reader.UseData].
func (r *Reader) UsedData() []string { return r.uses }

// Err returns nil, or the [Problems] so far: the first hundred and the number of the others.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	for i := range r.unknown {
		s := &r.unknown[i]
		r.problems[s.problem].Message = r.describeUnknown(s)
	}
	r.unknown = nil
	return r.problems.and(r.unnamed)
}

// Object starts reading v as an object at path ("" for the document). If v has another kind, Object reports that and
// returns an empty object without required fields, so that callers need no error branch.
func (r *Reader) Object(v Value, path string) *Object { return r.object(v, location{name: path}) }

func (r *Reader) object(v Value, at location) *Object {
	o := &Object{reader: r, place: at}
	if !r.Trusted {
		o.known = make([]string, 0, 2*usualMembers)
	}
	if v.kind != KindObject {
		r.mismatch(at, KindObject, v)
		o.broken = true
		return o
	}
	if r.words != nil {
		r.opened = append(r.opened, at)
	}
	o.members, o.used = v.members, o.few[:0]
	if len(v.members) > len(o.few) {
		o.used = make([]bool, len(v.members))
	}
	o.used = o.used[:len(v.members)]
	return o
}

// mismatch reports a value of the wrong kind.
func (r *Reader) mismatch(at location, want Kind, v Value) {
	path := at.path()
	if path == "" {
		r.Problem(path, "the document must be %s, not %s", want, v.kind)
		return
	}
	r.Problem(path, "must be %s, not %s", want, v.kind)
}
