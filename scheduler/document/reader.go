package document

import "fmt"

// Reader collects problems while a document is read. Use [NewReader].
type Reader struct {
	problems Problems
	refs     []SecretRef
	stored   bool
}

// NewReader returns a reader without problems.
func NewReader() *Reader { return &Reader{} }

// NewStoredReader returns a reader of a document that was accepted once.
func NewStoredReader() *Reader { return &Reader{stored: true} }

// Stored reports whether the document was accepted once: what only settings forbid, which may have changed since, is then
// no problem of the document's.
func (r *Reader) Stored() bool { return r.stored }

// Problem adds a problem at path.
func (r *Reader) Problem(path, format string, args ...any) { //nolint:goprintffuncname // it adds a Problem
	r.problems = append(r.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Err returns nil, or the [Problems] found so far.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return r.problems
}

// Object begins to read v as an object at path ("" for the document). If v is of another kind, that is reported and the
// object returned is empty and asks for nothing: callers need no second branch.
func (r *Reader) Object(v Value, path string) *Object {
	if v.kind != KindObject {
		r.mismatch(path, KindObject, v)
		return &Object{reader: r, path: path, broken: true}
	}
	return &Object{reader: r, path: path, members: v.members, used: make([]bool, len(v.members)), known: make([]string, 0, 16)}
}

// mismatch reports a value of the wrong kind.
func (r *Reader) mismatch(path string, want Kind, v Value) {
	r.Problem(path, "must be %s, not %s", want, v.kind)
}
