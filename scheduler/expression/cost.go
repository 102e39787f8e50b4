package expression

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// Limits of the package comment.
const (
	maxLoops     = 3
	maxPrecision = 100
	maxCost      = 50_000
	maxRegexp    = 1000      // instructions
	maxSteps     = 5_000_000 // of a regular expression: instructions times bytes
)

// errCost is the error of an evaluation that exceeds its limit.
var errCost = errors.New("costs too much on the present event; simplify the expression")

// plan makes a checked expression executable within its limits.
func plan(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	return env.Program(checked, cel.CostLimit(maxCost), cel.CostTracking(meter{}),
		cel.CustomDecoratorV2(func(step interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			call, ok := step.(interpreter.InterpretableCall)
			switch {
			case !ok, !isFunction(call.Function()) && !slices.Contains(deep, call.Function()):
				return step, nil
			case call.Function() == overloads.Matches:
				return matcher(call)
			}
			return guarded(env, call)
		}))
}

// meter charges for calls by the values that they read. CEL would count a nested list as one value.
type meter struct{}

// CallCost implements [interpreter.ActualCostEstimator].
func (meter) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	return new(callCost(function, args))
}

// callCost returns the cost of a call: a tenth of the values that it reads. Some functions search or repeat each part of an argument
// in another, so a hundredth of the product is added for functions.
func callCost(function string, args []ref.Val) uint64 {
	const enough = 100 * maxCost
	if function == operators.Add && args[0].Type() == types.ListType { // the sum refers to both lists
		return 1 + min(length(args[0]), length(args[1]))/10
	}
	sum, product := uint64(0), uint64(1)
	for i := range args {
		n := extent(function, args, i)
		sum, product = sum+n, min(product, enough)*max(1, n)
	}
	if !isFunction(function) {
		product = 0
	}
	return 1 + sum/10 + product/100
}

// extent returns the bytes and elements that a call reads of an argument: most calls read all that it contains.
func extent(function string, args []ref.Val, i int) uint64 {
	_, contains := args[i].(traits.Iterable)
	_, compares := args[0].(traits.Iterable) // all that each element contains
	switch {
	case contains && function == overloads.Size:
		return 1
	case contains && function == operators.In && i == 1 && !compares:
		return length(args[i]) // a lookup in a map reads nothing else
	}
	return weight(args[i])
}

// isFunction reports whether a function has a name. The internal names of operators begin with a sign.
func isFunction(name string) bool { return name[0] >= 'a' && name[0] <= 'z' }

// length returns the length of a list, or 0.
func length(value ref.Val) uint64 {
	list, _ := value.(traits.Lister)
	if list == nil {
		return 0
	}
	n, _ := list.Size().(types.Int)
	return uint64(n)
}

// weight returns the bytes and elements of a value with all that it contains. It stops counting when they cost too much.
func weight(value ref.Val) uint64 {
	total := uint64(1)
	object, isMap := value.(traits.Mapper)
	switch v := value.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	case traits.Iterable:
		for it := v.Iterator(); total <= 10*maxCost && it.HasNext() == types.True; {
			element := it.Next()
			total += weight(element)
			if isMap {
				total += weight(object.Get(element))
			}
		}
	}
	return total
}

// deep are the operators whose operands may be large.
var deep = []string{operators.Add, operators.Equals, operators.NotEquals, operators.In}

// comparisons are the operators that CEL evaluates without a binding.
var comparisons = []*functions.Overload{
	{Operator: operators.Equals, Binary: types.Equal},
	{Operator: operators.NotEquals, Binary: func(a, b ref.Val) ref.Val {
		return types.Bool(types.Equal(a, b) != types.True)
	}},
}

// guarded returns a call that refuses excessive work before it begins. CEL charges for a call only after it has ended.
func guarded(env *cel.Env, call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	bindings, err := env.Functions()[call.Function()].Bindings()
	if err != nil {
		return nil, err
	}
	for _, b := range append(comparisons, bindings...) {
		if b.Operator == call.OverloadID() || b.Operator == call.Function() {
			return replaced(call, func(args ...ref.Val) ref.Val {
				if callCost(call.Function(), args) > maxCost {
					return types.WrapErr(errCost)
				}
				return apply(b, args)
			}), nil
		}
	}
	return nil, fmt.Errorf("no such overload: %s", call.Function())
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

// matcher returns a call of matches that compiles a constant pattern once.
func matcher(call interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	var compiled *pattern
	if constant, ok := call.Args()[1].(interpreter.InterpretableConst); ok {
		var err error
		if compiled, err = newPattern(constant.Value()); err != nil {
			return nil, err
		}
	}
	return replaced(call, func(args ...ref.Val) ref.Val {
		text, isText := args[0].(types.String)
		p, err := compiled, error(nil)
		if p == nil {
			p, err = newPattern(args[1])
		}
		switch {
		case !isText:
			return types.MaybeNoSuchOverloadErr(args[0])
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

func newPattern(value ref.Val) (*pattern, error) {
	text, ok := value.(types.String)
	if !ok {
		return nil, errors.New("no such overload")
	}
	tree, err := syntax.Parse(string(text), syntax.Perl)
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
	compiled, err := regexp.Compile(string(text))
	return &pattern{compiled, len(program.Inst)}, err
}
