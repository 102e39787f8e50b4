package document

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is a single error in a document. Path locates it, such as "recurrence.schedule.hours[2]"; it is empty for the
// document itself. Message states the error and the valid values. Cause is the same error for programs, such as a
// syntax error with its column, or nil.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Cause   error  `json:"-"`
}

// ErrRequired is the cause of a [Problem] with a missing field.
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

// Problems lists the problems of a document in the order of detection.
type Problems []Problem

// Error returns one line per problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Limits on the problems reported for a document.
const (
	maxProblems = 100
	maxMessage  = 1 << 10 // bytes
	maxPath     = 512     // bytes
)

// Short returns the problems to report: at most a hundred and the number of the others. Long texts, such as messages
// that quote the input, keep only their beginning and end.
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

// and returns ps with the number of further problems.
func (ps Problems) and(more int) Problems {
	if more == 0 {
		return ps
	}
	return append(ps, Problem{Message: "and " + strconv.Itoa(more) + " more problems"})
}

// Cut shortens a text to slightly more than most bytes: it keeps the beginning and the end.
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

// MemberPath returns the path of a field of the object at path, as used in problems and changes.
func MemberPath(path, name string) string { return member(path, name) }

// member returns the path of the field name of the object at path. A name that is not a plain word is quoted, so that
// paths are unambiguous: headers["X.Y"].
func member(path, name string) string {
	if !plain(name) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	return join(path, name)
}

// element returns the path of element i of the array at path.
func element(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

// join appends the path inner to the path outer.
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

// SyntaxError is an error in the syntax of a document. It is the Cause of its [Problem].
type SyntaxError struct {
	Line, Column int // position, both from 1; columns count characters
	Message      string
}

// Error returns "line:column: message".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// wrongText returns the problem of a syntax error.
func wrongText(line, column int, message string) Problem {
	e := &SyntaxError{line, column, message}
	return Problem{Message: e.Error(), Cause: e}
}

// place is a position in a text, both from 1; columns count characters.
type place struct{ line, column int }

// places records the positions of values while a text is parsed: the start of a scalar, and the start of the name of an
// object or array. A nil *places records nothing.
type places struct {
	path      string             // path of the current value
	documents []map[string]place // by lower-case path
	noted     int                // in all documents
}

// Limits of the recorded positions, beyond any document that a scheduler accepts. A value with a longer path has the
// position of its parent.
const (
	maxPlaces    = 500_000
	maxPlacePath = 4 << 10 // bytes
)

// begin starts a document.
func (p *places) begin(at place) {
	if p != nil {
		p.path, p.documents = "", append(p.documents, map[string]place{"": at})
	}
}

// enter records the position of a value, whose path is derived from its parent's path. It returns the parent's path, to
// be restored afterwards.
func (p *places) enter(path func(outer string) string, at place) (outer string) {
	outer = p.path
	if len(outer) > maxPlacePath || p.noted == maxPlaces {
		return outer
	}
	p.path = path(outer)
	found := p.documents[len(p.documents)-1]
	if key := strings.ToLower(p.path); found[key] == (place{}) {
		found[key] = at
		p.noted++
	}
	return outer
}

// of returns the position of the value at a path, or of the nearest enclosing value.
func (p *places) of(document int, path string) place {
	if document >= len(p.documents) {
		return place{1, 1}
	}
	for path = strings.ToLower(path); ; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if at, ok := p.documents[document][path]; ok {
			return at
		}
	}
}

// cursor converts offsets of a text to places. Offsets must not decrease, so that all conversions take a single pass.
type cursor struct {
	text   string
	offset int
	at     place // column minus one
}

func (c *cursor) place(offset int) place {
	passed := c.text[c.offset:offset]
	if last := strings.LastIndexByte(passed, '\n'); last >= 0 {
		c.at.line += strings.Count(passed, "\n")
		c.at.column, passed = 0, passed[last+1:]
	}
	c.at.column += utf8.RuneCountInString(passed)
	c.offset = offset
	return place{c.at.line + 1, c.at.column + 1}
}

// ask records that a reader wants the field name of the object, as an object or as any value.
func (o *Object) ask(name string) {
	if r := o.reader; r.words != nil {
		r.asked = append(r.asked, o.location(name))
	}
}

// unknownField is a field that no reader asked for in this object.
type unknownField struct {
	problem int // index of the problem that reports it
	object  string
	name    string
	known   []string // the fields that the object may have
}

// describeUnknown returns the message for an unknown field after the whole document has been read.
func (r *Reader) describeUnknown(s *unknownField) string {
	near := Nearest(s.name, s.known)
	if strings.EqualFold(near, s.name) {
		return "repeats " + strconv.Quote(near)
	}
	if homes := r.homesOf(s, s.name); len(homes) > 0 {
		return "belongs " + phrase(homes)
	}
	if near != "" {
		return "unknown field; did you mean " + strconv.Quote(near) + "?"
	}
	if r.words != nil {
		var names []string
		r.words().eachMember("", false, func(_, name string) { names = append(names, name) })
		if near = Nearest(s.name, names); near != "" {
			if homes := r.homesOf(s, near); len(homes) > 0 {
				return "unknown field; did you mean " + strconv.Quote(near) + " " + phrase(homes) + "?"
			}
		}
	}
	return "unknown field"
}

// homesOf returns the other objects of the document that may have the field.
func (r *Reader) homesOf(s *unknownField, name string) []string {
	if r.words == nil {
		return nil
	}
	var homes []string
	r.words().eachMember("", false, func(home, known string) {
		if !strings.EqualFold(known, name) {
			return
		}
		if home = r.below(s.object, home); home != s.object && !slices.Contains(homes, home) && r.mayHave(home) {
			homes = append(homes, home)
		}
	})
	return homes
}

// eachMember calls do for each field below an object at a path, with the path of the object that has it. It skips fields that
// depend on the type of an object inside an object with a type.
func (s *Shape) eachMember(path string, typed bool, do func(home, name string)) {
	if s.Members == nil {
		return
	}
	all := s.Members.Known
	for _, kind := range s.Members.Kinds {
		if !typed {
			all = append(slices.Clip(all), kind.Members.Known...)
		}
	}
	for _, inner := range all {
		do(path, inner.Name)
		inner.eachMember(member(path, inner.Name), typed || s.Members.Kinds != nil, do)
	}
}

// errorAction is the field of an action that contains an action.
const errorAction = "errorAction"

// below moves the home of a field into the envelope, and from the action to the errorAction if the object is one.
func (r *Reader) below(object, home string) string {
	if at := strings.LastIndex(object, errorAction); at >= 0 && (home == "action" || strings.HasPrefix(home, "action.")) {
		end := at + len(errorAction)
		if object[end:] != "" && object[end] == '[' {
			end += strings.IndexByte(object[end:], ']') + 1
		}
		return object[:end] + strings.TrimPrefix(home, "action")
	}
	return join(r.base, home)
}

// mayHave reports whether the document may have an object at a path: the reader of the parent, if it exists, asked for
// it.
func (r *Reader) mayHave(path string) bool {
	for path != r.base {
		around := path[:max(strings.LastIndexAny(path, ".["), 0)]
		if stands(r.opened, around) && !stands(r.asked, path) {
			return false
		}
		if around == path || path == "" {
			return true
		}
		path = around
	}
	return true
}

// stands reports whether one of the spots has the path.
func stands(spots []location, path string) bool {
	return slices.ContainsFunc(spots, func(s location) bool { return s.path() == path })
}

// phrase describes where fields belong: "in action.request", "at the top level of the job".
func phrase(homes []string) string {
	words := make([]string, 0, 3)
	for _, home := range homes[:min(len(homes), 3)] {
		switch home = strings.TrimPrefix(strings.TrimPrefix(home, "properties"), "."); home {
		case "":
			words = append(words, "at the top level of the job")
		default:
			words = append(words, "in "+home)
		}
	}
	return strings.Join(words, " or ")
}

// Nearest returns the name closest to word in any letter case: one that begins with word, or that is at most one edit
// away per three letters of the longer, and at most three edits. It returns "" if no name is that close.
func Nearest(word string, names []string) string {
	best, bestDistance := "", 4
	if len(word) > 64 {
		return "" // no field has such a name; skip the expensive comparison
	}
	word = strings.ToLower(word)
	for _, name := range names {
		lower := strings.ToLower(name)
		if len(word) > 2 && strings.HasPrefix(lower, word) {
			return name
		}
		d := Distance(word, lower, bestDistance)
		if d < bestDistance && d <= (max(len(word), len(name))+2)/3 {
			best, bestDistance = name, d
		}
	}
	return best
}

// Distance returns the number of insertions, deletions, replacements and swaps of neighbors that turn a into b (optimal
// string alignment). It may stop at limit.
func Distance(a, b string, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		if slices.Min(row) >= limit {
			return limit
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
