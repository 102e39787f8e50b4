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

// The bounds of what is told of a document, however much of it is wrong.
const (
	maxProblems = 100
	maxMessage  = 1 << 10 // bytes
	maxPath     = 512     // bytes
)

// Short returns problems as they are told: at most a hundred, and how many there are besides, and of what is long, such as
// a message that repeats what was written, the beginning and the end.
func (ps Problems) Short() Problems {
	short := make(Problems, 0, min(len(ps), maxProblems+1))
	for _, p := range ps {
		if len(short) == maxProblems && len(ps) > maxProblems+1 {
			return short.and(len(ps) - maxProblems)
		}
		p.Path, p.Message = Cut(p.Path, maxPath), Cut(p.Message, maxMessage)
		short = append(short, p)
	}
	return short
}

// and returns ps with how many problems there are besides.
func (ps Problems) and(more int) Problems {
	if more == 0 {
		return ps
	}
	return append(ps, Problem{Message: "and " + strconv.Itoa(more) + " more problems"})
}

// Cut returns a text of at most that many bytes, and a little more: of one that is longer, the beginning and the end.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + " … " + strings.ToValidUTF8(text[len(text)-most/2:], "")
}

// Unwrap gives the single problems to errors.As.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// MemberPath returns the path of a member of the object at a path, as problems and changes name it.
func MemberPath(path, name string) string { return member(path, name) }

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
