// Package variable expands and escapes the variables of job files. In a text, ${CARILLON_…} is replaced by a value that
// the reader of the file supplies, and $${CARILLON_…} is the escaped literal. Names consist of upper-case letters,
// digits and "_"; all other text is unchanged.
package variable

import (
	"fmt"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Prefix is the prefix of all variable names.
const Prefix = "CARILLON_"

// Lookup returns the value of a variable, like [os.LookupEnv].
type Lookup func(name string) (value string, ok bool)

// Expand returns a document with the variables in its texts replaced. A variable without a value is a problem at its
// path, and is replaced by the empty text.
func Expand(v document.Value, lookup Lookup) (document.Value, document.Problems) {
	e := expander{lookup: lookup}
	v = e.value(v, "")
	return v, e.problems
}

// open is the start of a variable in a text.
const open = "${" + Prefix

// expander replaces variables in a document.
type expander struct {
	lookup   Lookup
	problems document.Problems
}

// value returns v with the variables in its strings replaced. path is the path of v.
func (e *expander) value(v document.Value, path string) document.Value {
	switch v.Kind() {
	case document.KindString:
		return document.StringValue(e.text(v.Text(), path))
	case document.KindArray:
		items := make([]document.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = e.value(item, fmt.Sprintf("%s[%d]", path, i))
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := make([]document.Member, len(v.Members()))
		for i, m := range v.Members() {
			below := m.Name
			if path != "" {
				below = path + "." + m.Name
			}
			members[i] = document.Member{Name: m.Name, Value: e.value(m.Value, below)}
		}
		return document.ObjectValue(members...)
	default:
		return v
	}
}

func (e *expander) text(s, path string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, open)
		name, rest, closed := strings.Cut(after, "}")
		switch {
		case !found:
			b.WriteString(s)
			return b.String()
		case !closed || !isName(name): // not a variable
			b.WriteString(before + open)
			rest = after
		case strings.HasSuffix(before, "$"): // $${…} is the literal ${…}
			b.WriteString(before[:len(before)-1] + open + name + "}")
		default:
			b.WriteString(before + e.variable(Prefix+name, path))
		}
		s = rest
	}
}

func (e *expander) variable(name, path string) string {
	value, ok := e.lookup(name)
	if !ok {
		e.problems = append(e.problems, document.Problem{Path: path, Message: "the variable " + name + " is not set"})
	}
	return value
}

// isName reports whether s is valid after the prefix of a variable name.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Escape escapes every variable in the texts of a document, so that [Expand] returns the original texts. Secrets stay
// unchanged, because they are hidden.
func Escape(v document.Value) document.Value {
	switch v.Kind() {
	case document.KindString:
		if v.IsSecret() {
			return v
		}
		return document.StringValue(escaped(v.Text()))
	case document.KindArray:
		items := make([]document.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = Escape(item)
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := make([]document.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = document.Member{Name: m.Name, Value: Escape(m.Value)}
		}
		return document.ObjectValue(members...)
	default:
		return v
	}
}

// escaped inserts a $ before every variable.
func escaped(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, open)
		if !found {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		if name, _, closed := strings.Cut(after, "}"); closed && isName(name) {
			b.WriteByte('$')
		}
		b.WriteString(open)
		s = after
	}
}
