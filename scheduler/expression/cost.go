package expression

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// Limits of the package comment.
const (
	maxEstimate = 1_000_000
	maxCost     = 50_000
	maxWork     = 1 << 20    // bytes and elements in one call
	maxRegexp   = 1000       // instructions
	maxSteps    = 10_000_000 // of a regular expression: instructions times bytes
)

// errCost is the error of an evaluation that exceeds its limit.
var errCost = errors.New("costs too much on the present event; simplify the expression")

// checkEstimate refuses an expression whose estimated cost is too high.
func checkEstimate(env *cel.Env, checked *cel.Ast) error {
	estimate, err := env.EstimateCost(checked, estimator{})
	if err != nil {
		return err
	}
	if estimate.Max > maxEstimate {
		return fmt.Errorf("costs too much: the estimate exceeds %d; simplify the expression", maxEstimate)
	}
	return nil
}

// estimator assumes usual sizes of the input.
type estimator struct{}

// EstimateSize implements [checker.CostEstimator].
func (estimator) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	switch node.Type().Kind() {
	case types.StringKind, types.BytesKind:
		return &checker.SizeEstimate{Max: 1024}
	default:
		return &checker.SizeEstimate{Max: 100}
	}
}

// EstimateCallCost implements [checker.CostEstimator]. It leaves all functions to CEL.
func (estimator) EstimateCallCost(
	string, string, *checker.AstNode, []checker.AstNode, //nolint:gocritic // as in the interface
) *checker.CallEstimate {
	return nil
}

// plan makes a checked expression executable within its limits.
func plan(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	return env.Program(checked, cel.CostLimit(maxCost), cel.CostTracking(meter{}),
		cel.CustomDecoratorV2(func(step interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			call, ok := step.(interpreter.InterpretableCall)
			switch {
			case ok && call.Function() == overloads.Matches:
				return matcher(call)
			case ok && work[call.Function()] != nil && !comparesConstant(call):
				return guarded(env, call)
			}
			return step, nil
		}))
}

// meter measures the calls that CEL underrates: those whose overload depends on values, and deep comparisons.
type meter struct{}

// CallCost implements [interpreter.ActualCostEstimator].
func (meter) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	measure := work[function]
	if linear[function] {
		measure = textWork
	}
	if measure == nil {
		return nil
	}
	cost := 1 + measure(args)/10
	return &cost
}

// guarded returns a call that refuses excessive work before it begins. CEL measures a call only after it has ended.
func guarded(env *cel.Env, call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	bindings, err := env.Functions()[call.Function()].Bindings()
	if err != nil {
		return nil, err
	}
	for _, b := range append(comparisons, bindings...) {
		if b.Operator == call.OverloadID() || b.Operator == call.Function() {
			return replaced(call, func(args ...ref.Val) ref.Val {
				if work[call.Function()](args) > maxWork {
					return types.WrapErr(errCost)
				}
				return apply(b, args)
			}), nil
		}
	}
	return nil, fmt.Errorf("no such overload: %s", call.Function())
}

// comparisons are the operators that CEL evaluates without a binding.
var comparisons = []*functions.Overload{
	{Operator: operators.Equals, Binary: types.Equal},
	{Operator: operators.NotEquals, Binary: func(a, b ref.Val) ref.Val {
		return types.Bool(types.Equal(a, b) != types.True)
	}},
}

func replaced(call interpreter.InterpretableCall, f functions.FunctionOp) interpreter.InterpretableV2 {
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), f)
}

func apply(b *functions.Overload, args []ref.Val) ref.Val {
	switch {
	case b.OperandTrait != 0 && !args[0].Type().HasTrait(b.OperandTrait):
		return types.MaybeNoSuchOverloadErr(args[0])
	case b.Unary != nil && len(args) == 1:
		return b.Unary(args[0])
	case b.Binary != nil && len(args) == 2:
		return b.Binary(args[0], args[1])
	case b.Function != nil:
		return b.Function(args...)
	default:
		return types.MaybeNoSuchOverloadErr(args[0])
	}
}

// comparesConstant reports whether a call is a comparison that a short constant of the text bounds.
func comparesConstant(call interpreter.InterpretableCall) bool {
	if call.Function() != operators.Equals && call.Function() != operators.NotEquals {
		return false
	}
	return slices.ContainsFunc(call.Args(), func(arg interpreter.InterpretableV2) bool {
		_, ok := arg.(interpreter.InterpretableConst)
		return ok
	})
}

// matcher returns a call of matches that compiles a constant pattern once.
func matcher(call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	var compiled *pattern
	if constant, ok := call.Args()[1].(interpreter.InterpretableConst); ok {
		text, _ := constant.Value().(types.String)
		var err error
		if compiled, err = newPattern(string(text)); err != nil {
			return nil, err
		}
	}
	return replaced(call, func(args ...ref.Val) ref.Val {
		text, isText := args[0].(types.String)
		expression, isPattern := args[1].(types.String)
		if !isText || !isPattern {
			return types.MaybeNoSuchOverloadErr(args[0])
		}
		p, err := compiled, error(nil)
		if p == nil {
			p, err = newPattern(string(expression))
		}
		switch {
		case err != nil:
			return types.WrapErr(err)
		case len(text)*p.size > maxSteps:
			return types.WrapErr(errCost)
		}
		return types.Bool(p.MatchString(string(text)))
	}), nil
}

// pattern is a compiled regular expression with its number of instructions.
type pattern struct {
	*regexp.Regexp

	size int
}

func newPattern(text string) (*pattern, error) {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	if size := len(program.Inst); size > maxRegexp {
		return nil, fmt.Errorf("regular expression costs too much: at most %d instructions, got %d", maxRegexp, size)
	}
	compiled, err := regexp.Compile(text)
	return &pattern{compiled, len(program.Inst)}, err
}
