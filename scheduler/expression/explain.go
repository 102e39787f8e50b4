package expression

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Limits of an explanation.
const (
	maxFields = 5
	maxValue  = 64
)

// Explain names the fields of the event that the expression reads, with their present values: "event.data.total is 7".
// It names at most 5 fields, and cuts values at 64 bytes. It returns "" for an expression that reads none.
func (p *Program) Explain(in Input) string { return p.explain(in.variables()) }

func (p *Program) explain(vars map[string]any) string {
	var parts []string
	for _, field := range p.fields[:min(len(p.fields), maxFields)] {
		parts = append(parts, field.state(vars))
	}
	if more := len(p.fields) - maxFields; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// A path leads from a variable to a value within it. Its elements are names and, for lists, indexes of type int64.
type path []any

// String returns the path as an expression.
func (p path) String() string {
	var b strings.Builder
	for i, element := range p {
		name, isName := element.(string)
		switch {
		case !isName:
			fmt.Fprintf(&b, "[%d]", element)
		case i == 0:
			b.WriteString(name)
		case isIdentifier(name):
			b.WriteString("." + name)
		default:
			b.WriteString("[" + shown(name) + "]")
		}
	}
	return b.String()
}

// isIdentifier matches a name that can follow a dot.
var isIdentifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// state returns the path with its value.
func (p path) state(vars map[string]any) string {
	if missing, absent := p.missing(vars); absent {
		return missing
	}
	value, _ := p.resolve(vars)
	return p.String() + " is " + shown(value)
}

// missing describes the first absent value on the path, and reports whether one is absent.
func (p path) missing(vars map[string]any) (string, bool) {
	value, known := p.resolve(vars)
	if known == len(p) {
		return "", false
	}
	if value == nil && known > 1 {
		return p[:known].String() + " is null", true
	}
	return p[:known+1].String() + " is missing", true
}

// resolve follows the path as far as values exist. It returns the last value, and the number of elements up to it.
func (p path) resolve(vars map[string]any) (value any, known int) {
	value = vars
	for i, element := range p {
		next, ok := below(value, element)
		if !ok {
			return value, i
		}
		value = next
	}
	return value, len(p)
}

// below returns the value of a field or list element.
func below(value, element any) (next any, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		name, _ := element.(string)
		next, ok = v[name]
	case map[string]string:
		name, _ := element.(string)
		next, ok = v[name]
	case []any:
		if i, isIndex := element.(int64); isIndex && i >= 0 && i < int64(len(v)) {
			return v[i], true
		}
	}
	return next, ok
}

// shown returns a value for an operator to read.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(cut(v, maxValue))
	case json.Number:
		return cut(string(v), maxValue)
	case []any:
		return fmt.Sprintf("a list of length %d", len(v))
	case map[string]any:
		return fmt.Sprintf("an object of %d fields", len(v))
	case map[string]string:
		return fmt.Sprintf("an object of %d fields", len(v))
	}
	if text, ok := keyText(value); ok {
		return text
	}
	return fmt.Sprintf("of type %T", value)
}

// cut returns the text with at most size bytes, and "…" if some are left out.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size] + "…"
}

// readsOf returns the paths that an expression reads, by the ID of their node, and the paths of event in their order.
func readsOf(checked *ast.AST) (map[int64]path, []path) {
	reads := map[int64]path{}
	within := map[int64]bool{} // the inner nodes of paths
	var fields []path
	ast.PreOrderVisit(checked.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if inner, _, ok := step(e); ok {
			within[inner.ID()] = true
		}
		if within[e.ID()] {
			return
		}
		if p, ok := pathOf(checked, e); ok && len(p) > 1 {
			reads[e.ID()] = p
			fields = addField(fields, p)
		}
	}))
	return reads, fields
}

// addField adds a path of event. A longer path replaces those to the values around it.
func addField(fields []path, p path) []path {
	starts := func(p, q path) bool { return len(p) <= len(q) && slices.Equal(p, q[:len(p)]) }
	if p[0] != "event" || slices.ContainsFunc(fields, func(q path) bool { return starts(p, q) }) {
		return fields
	}
	return append(slices.DeleteFunc(fields, func(q path) bool { return starts(q, p) }), p)
}

// pathOf returns the path of a chain of fields and constant indexes below a variable.
func pathOf(checked *ast.AST, e ast.Expr) (path, bool) {
	p, root := chainOf(e)
	kind := checked.GetType(root.ID()) // an element of a loop may have the name of a variable
	return p, p != nil && kind.Kind() == types.StructKind && kind.TypeName() == p[0]
}

// chainOf returns the path of a chain of fields and constant indexes, and the node of its name; nil for other expressions.
func chainOf(e ast.Expr) (p path, root ast.Expr) {
	inner, element, ok := step(e)
	for ; ok; inner, element, ok = step(e) {
		p, e = append(p, element), inner
	}
	if e.Kind() != ast.IdentKind {
		return nil, e
	}
	p = append(p, e.AsIdent())
	slices.Reverse(p)
	return p, e
}

// step returns the last element of a path, and the node of the value that contains it.
func step(e ast.Expr) (inner ast.Expr, element any, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().Operand(), e.AsSelect().FieldName(), true
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() != operators.Index || call.Args()[1].Kind() != ast.LiteralKind {
			return nil, nil, false
		}
		switch literal := call.Args()[1].AsLiteral().(type) {
		case types.String:
			return call.Args()[0], string(literal), true
		case types.Int:
			return call.Args()[0], int64(literal), true
		}
	default: // it is no access
	}
	return nil, nil, false
}
