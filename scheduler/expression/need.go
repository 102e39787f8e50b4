package expression

import (
	"encoding/json"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Need is a value that a field of the event must have for a condition to be true. The zero Need is none.
type Need struct {
	Field string // event.data.type
	Value any    // a string, float64 or bool
}

// NeedOf returns a need of a condition: event.data.type == "paid" && event.data.total > 7 needs the type "paid". It
// returns none for a condition that compares no field with a constant, or that can be true without such a comparison.
func NeedOf(text string) (n Need) {
	if env, err := environment(); err == nil {
		if parsed, issues := env.Parse(text); issues.Err() == nil {
			return needOf(parsed.NativeRep().Expr())
		}
	}
	return n
}

func needOf(e ast.Expr) (n Need) {
	if e.Kind() != ast.CallKind {
		return n
	}
	args := e.AsCall().Args()
	for i, arg := range args {
		switch e.AsCall().FunctionName() {
		case operators.LogicalAnd: // a false operand makes it false, even if the other one fails
			n = needOf(arg)
		case operators.Equals:
			n = Need{fieldOf(arg), constant(args[1-i])}
		}
		if n.Field != "" && n.Value != nil {
			return n
		}
	}
	return Need{}
}

// fieldOf returns a field of the event; "" for other expressions, and for names that are no identifiers.
func fieldOf(e ast.Expr) string {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() { // has(…)
		return ""
	}
	p, _ := chainOf(e)
	if text := p.String(); len(p) > 1 && p[0] == "event" && !strings.Contains(text, "[") {
		return text
	}
	return ""
}

// constant returns the value of a literal as decoded JSON has it; nil for other expressions and for integers that a
// float64 may not represent.
func constant(e ast.Expr) any {
	const exact = 1 << 53
	if e.Kind() != ast.LiteralKind {
		return nil
	}
	switch v := e.AsLiteral().(type) {
	case types.String:
		return string(v)
	case types.Bool:
		return bool(v)
	case types.Double:
		return float64(v)
	case types.Int:
		if v > -exact && v < exact {
			return float64(v)
		}
	}
	return nil
}

// Constant returns the value of a field, such as event.data.type, if a Need can have it. ok is false if the field is
// missing, or has another type: then only an evaluation decides.
func (in Input) Constant(field string) (value any, ok bool) {
	var p path
	for name := range strings.SplitSeq(field, ".") {
		p = append(p, name)
	}
	value, known := p.resolve(in.variables())
	switch v := value.(type) {
	case string, float64, bool:
		return value, known == len(p)
	case json.Number: // an integer that f does not represent equals no need
		f, err := v.Float64()
		return f, known == len(p) && err == nil
	}
	return nil, false
}
