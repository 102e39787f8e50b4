package importer

import (
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// expressions evaluates the expressions of a resource template that depend on the template alone: parameters with
// defaults, variables, their fields, concat, format, toLower, toUpper and copyIndex ("Syntax and expressions in ARM
// templates").
type expressions struct {
	parameters, variables document.Value
	depth                 int
	budget                *int // the rest of roomOfTemplate

	copying bool // a copy of a resource is being made,
	copy    int  // the one of this number, from 0
}

// copied evaluates the expressions of a copy.
func (x *expressions) copied(i int) *expressions {
	one := *x
	one.copying, one.copy = true, i
	return &one
}

func newExpressions(template document.Value) *expressions {
	x := &expressions{budget: new(roomOfTemplate)}
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
		if strings.HasPrefix(text, "[[") { // an escaped bracket
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

// roomOfTemplate is the maximum size in bytes of all results of a template's calls, including a charge per call.
// Without it, variables that double each other would exhaust memory. Results beyond it have no value.
const (
	roomOfTemplate = 64 << 20
	roomOfCall     = 64
)

// deepest is how many variables may refer to one another in a row.
const deepest = 32

// expression parses a quoted text, a number, or a call with the accesses to its result.
func (x *expressions) expression(text string) (v document.Value, rest string, ok bool) {
	text = strings.TrimSpace(text)
	if quoted, found := strings.CutPrefix(text, "'"); found {
		return literal(quoted)
	}
	if digits := strings.TrimLeft(text, "0123456789"); len(digits) < len(text) {
		return document.NumberValue(text[:len(text)-len(digits)]), digits, true
	}
	name, rest, found := strings.Cut(text, "(")
	if !found {
		return v, "", false
	}
	var arguments []document.Value
	for {
		rest = strings.TrimSpace(rest)
		if after, found := strings.CutPrefix(rest, ")"); found {
			if v, ok = x.call(strings.ToLower(strings.TrimSpace(name)), arguments); !ok {
				return v, "", false
			}
			return x.part(v, after)
		}
		argument, after, ok := x.expression(strings.TrimPrefix(rest, ","))
		if !ok {
			return v, "", false
		}
		arguments, rest = append(arguments, argument), after
	}
}

// part takes out of a value what follows it: .name, ['name'] and [number], as often as there are any.
func (x *expressions) part(v document.Value, text string) (_ document.Value, rest string, ok bool) {
	for ok = true; ok; {
		if after, found := strings.CutPrefix(text, "."); found {
			end := strings.IndexAny(after, ".[,) ")
			if end < 0 {
				end = len(after)
			}
			v, ok = v.Member(after[:end])
			text = after[end:]
			continue
		}
		after, found := strings.CutPrefix(text, "[")
		if !found {
			return v, text, true
		}
		var at document.Value
		if at, after, ok = x.expression(after); ok {
			text, ok = strings.CutPrefix(strings.TrimSpace(after), "]")
		}
		if ok {
			v, ok = indexed(v, at)
		}
	}
	return v, "", false
}

// indexed is a member by its name, or an item by its number.
func indexed(v, at document.Value) (document.Value, bool) {
	if at.Kind() == document.KindString {
		return v.Member(at.Text())
	}
	n, err := strconv.Atoi(at.String())
	if items := v.Items(); err == nil && n >= 0 && n < len(items) {
		return items[n], true
	}
	return v, false
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
func (x *expressions) call(name string, arguments []document.Value) (v document.Value, ok bool) {
	if name == "copyindex" {
		return x.copyIndex(arguments)
	}
	texts, ok := scalars(arguments)
	if !ok || len(texts) == 0 || !x.takes(texts) {
		return v, false
	}
	switch {
	case name == "concat":
		return document.StringValue(strings.Join(texts, "")), true
	case name == "format":
		return formatted(texts[0], texts[1:])
	case len(texts) > 1:
		return v, false
	case name == "tolower":
		return document.StringValue(strings.ToLower(texts[0])), true
	case name == "toupper":
		return document.StringValue(strings.ToUpper(texts[0])), true
	case name == "parameters":
		parameter, ok := x.parameters.Member(texts[0])
		if !ok {
			return v, false
		}
		v, ok = parameter.Member("defaultValue")
		return x.inner(v, ok)
	case name == "variables":
		return x.inner(x.variables.Member(texts[0]))
	}
	return v, false
}

// takes reports whether there is room for a call with arguments, and takes it.
func (x *expressions) takes(arguments []string) bool {
	*x.budget -= roomOfCall
	for _, text := range arguments {
		*x.budget -= len(text)
	}
	return *x.budget >= 0
}

// scalars returns the texts of values; ok is false if one of them has none.
func scalars(values []document.Value) (texts []string, ok bool) {
	for _, v := range values {
		switch v.Kind() {
		case document.KindString:
			texts = append(texts, v.Text())
		case document.KindNumber:
			texts = append(texts, v.String())
		default:
			return nil, false
		}
	}
	return texts, true
}

// copyIndex returns the index of the copy plus an optional offset. An optional loop name has no effect.
func (x *expressions) copyIndex(arguments []document.Value) (v document.Value, ok bool) {
	if len(arguments) > 0 && arguments[0].Kind() == document.KindString {
		arguments = arguments[1:]
	}
	first := 0
	if len(arguments) > 0 {
		var err error
		if first, err = strconv.Atoi(arguments[0].String()); err != nil {
			return v, false
		}
	}
	return document.NumberValue(strconv.Itoa(first + x.copy)), x.copying && len(arguments) < 2
}

// formatted puts texts in the place of their numbers in braces.
func formatted(text string, texts []string) (v document.Value, ok bool) {
	var places []string
	for i, one := range texts {
		places = append(places, "{"+strconv.Itoa(i)+"}", one)
	}
	text = strings.NewReplacer(places...).Replace(text)
	return document.StringValue(text), !strings.ContainsAny(text, "{}") // and no alignment, and no form of a number
}

// inner evaluates the value of a parameter or variable.
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
