package document

import (
	"errors"
	"strconv"
	"strings"
)

// Problem is one thing wrong in a document. Path names the place, such as "recurrence.schedule.hours[2]"; it is empty
// for the document itself. Message says what is wrong, and what would be right. Cause is the error that says the same to
// programs, such as a syntax error with its column; nil when there is none.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Cause   error  `json:"-"`
}

// ErrRequired is the cause of a [Problem] with a member that is missing.
var ErrRequired = errors.New("is required")

// Error returns "path: message".
func (p Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Unwrap returns the cause.
func (p Problem) Unwrap() error { return p.Cause }

// Problems is everything found wrong in a document, in the order of detection.
type Problems []Problem

// Error returns one line per problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the single problems to errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// member returns the path of the member name of the object at path. A name that is not a plain word is quoted, so that
// a path reads only one way: headers["X.Y"].
func member(path, name string) string {
	if !plain(name) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	return join(path, name)
}

// element returns the path of the element i of the array at path.
func element(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// join puts the path inner behind the path outer.
func join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// plain reports whether name needs no quotes in a path.
func plain(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}
