package importer

import (
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// expressions evaluates those of a resource template that need nothing but the template: parameters with defaults,
// variables, concat and format-free text ("Syntax and expressions in ARM templates").
type expressions struct {
	parameters, variables document.Value
	depth                 int
}

func newExpressions(template document.Value) *expressions {
	x := &expressions{}
	x.parameters, _ = template.Member("parameters")
	x.variables, _ = template.Member("variables")
	return x
}

// evaluate returns a value with the values of its expressions. unknown are the paths of those that have none.
func (x *expressions) evaluate(v document.Value, path string, unknown *[]string) document.Value {
	switch v.Kind() {
	case document.KindString:
		text := v.Text()
		if x == nil || !strings.HasPrefix(text, "[") || !strings.HasSuffix(text, "]") {
			return v
		}
		if strings.HasPrefix(text, "[[") { // a bracket that stands for itself
			return document.StringValue(text[1:])
		}
		result, rest, ok := x.expression(text[1 : len(text)-1])
		if !ok || strings.TrimSpace(rest) != "" {
			*unknown = append(*unknown, path)
			return v
		}
		return result
	case document.KindArray:
		items := make([]document.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = x.evaluate(item, path, unknown)
		}
		return document.ArrayValue(items...)
	case document.KindObject:
		members := make([]document.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = document.Member{Name: m.Name, Value: x.evaluate(m.Value, strings.TrimPrefix(path+"."+m.Name, "."), unknown)}
		}
		return document.ObjectValue(members...)
	default:
		return v
	}
}

// deepest is how many variables may refer to one another in a row.
const deepest = 32

// expression reads a text in quotes, or a call.
func (x *expressions) expression(text string) (v document.Value, rest string, ok bool) {
	text = strings.TrimSpace(text)
	if quoted, found := strings.CutPrefix(text, "'"); found {
		return literal(quoted)
	}
	name, rest, found := strings.Cut(text, "(")
	if !found {
		return v, "", false
	}
	var arguments []string
	for {
		rest = strings.TrimSpace(rest)
		if after, found := strings.CutPrefix(rest, ")"); found {
			v, ok = x.call(strings.ToLower(strings.TrimSpace(name)), arguments)
			return v, after, ok
		}
		argument, after, ok := x.expression(strings.TrimPrefix(rest, ","))
		if !ok || argument.Kind() != document.KindString {
			return v, "", false
		}
		arguments, rest = append(arguments, argument.Text()), after
	}
}

// literal reads a text up to its quote; two quotes are one.
func literal(text string) (v document.Value, rest string, ok bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "'")
		b.WriteString(before)
		if !found {
			return v, "", false
		}
		if next, twice := strings.CutPrefix(after, "'"); twice {
			b.WriteByte('\'')
			text = next
			continue
		}
		return document.StringValue(b.String()), after, true
	}
}

// call evaluates a function.
func (x *expressions) call(name string, arguments []string) (v document.Value, ok bool) {
	switch {
	case name == "concat" && len(arguments) > 0:
		return document.StringValue(strings.Join(arguments, "")), true
	case name == "parameters" && len(arguments) == 1:
		parameter, ok := x.parameters.Member(arguments[0])
		if !ok {
			return v, false
		}
		v, ok = parameter.Member("defaultValue")
		return x.inner(v, ok)
	case name == "variables" && len(arguments) == 1:
		return x.inner(x.variables.Member(arguments[0]))
	}
	return v, false
}

// inner evaluates what a parameter or variable holds.
func (x *expressions) inner(v document.Value, found bool) (document.Value, bool) {
	if !found || x.depth >= deepest {
		return v, false
	}
	x.depth++
	defer func() { x.depth-- }()
	var unknown []string
	v = x.evaluate(v, "", &unknown)
	return v, len(unknown) == 0
}
