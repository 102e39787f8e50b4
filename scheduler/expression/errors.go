package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
)

// maxMessage is the longest text of CEL in an error.
const maxMessage = 200

// firstIssue returns the first problem of an expression, with its line and column. parsed is nil for a syntax error.
func firstIssue(issues *cel.Issues, parsed *ast.AST) error {
	first := slices.MinFunc(issues.Errors(), func(a, b *cel.Error) int {
		if lines := a.Location.Line() - b.Location.Line(); lines != 0 {
			return lines
		}
		return a.Location.Column() - b.Location.Column()
	})
	message := explained(first, parsed)
	if first.Location.Line() < 1 { // of the whole expression
		return errors.New(message)
	}
	return fmt.Errorf("%d:%d: %s", first.Location.Line(), first.Location.Column()+1, message)
}

// explained returns a message of CEL in shorter and plainer words, with the remedy.
func explained(issue *cel.Error, parsed *ast.AST) string {
	message, _, _ := strings.Cut(issue.Message, "\n")
	switch name := quoted(message); {
	case strings.HasPrefix(message, "undeclared reference"):
		if parsed != nil && isCall(parsed, issue.ExprID) {
			return fmt.Sprintf("undeclared function '%s'", name)
		}
		return fmt.Sprintf("undeclared reference to '%s'; variables are event and job", name)
	case strings.HasPrefix(message, "undefined field"):
		return fmt.Sprintf("undefined field '%s'%s", name, knownFields(parsed, issue.ExprID))
	case strings.HasPrefix(message, "found no matching overload"):
		_, operands, _ := strings.Cut(message, " applied to ")
		if symbol, ok := operators.FindReverse(name); ok && symbol != "" {
			name = symbol
		}
		return fmt.Sprintf("'%s' does not accept %s", name, strings.Trim(operands, "'"))
	case strings.HasPrefix(message, "comprehension exceeds"):
		return fmt.Sprintf("costs too much: at most %d loops (all, exists, map, filter) nest or follow each other", maxLoops)
	}
	message, _, _ = strings.Cut(message, " expecting ") // a list of all tokens
	if rest, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		message = "syntax error: " + rest
	}
	return cut(message, maxMessage)
}

// quoted returns the first text in single quotes.
func quoted(message string) string {
	_, rest, _ := strings.Cut(message, "'")
	name, _, _ := strings.Cut(rest, "'")
	return name
}

func isCall(parsed *ast.AST, id int64) bool {
	e, ok := node(parsed, id)
	return ok && e.Kind() == ast.CallKind
}

// knownFields lists the fields of the variable whose field is undefined.
func knownFields(parsed *ast.AST, id int64) string {
	e, ok := node(parsed, id)
	if !ok || e.Kind() != ast.SelectKind || e.AsSelect().Operand().Kind() != ast.IdentKind {
		return ""
	}
	variable := e.AsSelect().Operand().AsIdent()
	names, _ := provider{}.FindStructFieldNames(variable)
	return fmt.Sprintf("; fields of %s are %s", variable, strings.Join(names, ", "))
}

// node returns the node of an ID.
func node(parsed *ast.AST, id int64) (found ast.Expr, ok bool) {
	ast.PreOrderVisit(parsed.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.ID() == id {
			found, ok = e, true
		}
	}))
	return found, ok
}

// evaluationError names the missing field, or adds the values of the fields that the expression reads.
func (p *Program) evaluationError(err error, vars map[string]any) error {
	if cancelled, ok := errors.AsType[interpreter.EvalCancelledError](err); ok &&
		cancelled.Cause == interpreter.CostLimitExceeded {
		return errCost
	}
	message := err.Error()
	if failed, ok := errors.AsType[*types.Err](err); ok {
		if read, ok := p.reads[failed.NodeID()]; ok {
			if missing, absent := read.missing(vars); absent {
				return errors.New(missing)
			}
		}
		if errors.Is(failed, errCost) || message == errCost.Error() {
			return errCost
		}
	}
	if strings.HasPrefix(message, "no such overload") {
		message = "an operator or function does not accept its values"
	}
	return p.withFields(cut(message, maxMessage), vars)
}

// withFields returns an error with a message and the values of the fields that the expression reads.
func (p *Program) withFields(message string, vars map[string]any) error {
	if fields := p.explain(vars); fields != "" {
		message += "; " + fields
	}
	return errors.New(message)
}
