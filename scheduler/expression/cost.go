package expression

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/checker"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// Limits of the package comment.
const (
	maxEstimate = 1_000_000
	maxCost     = 100_000
	maxBuilt    = 1 << 20
	maxRegexp   = 1000
)

// errCost is the error of an evaluation that exceeds its limit.
var errCost = errors.New("costs too much for this event; simplify the expression")

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
func (estimator) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// plan makes a checked expression executable within its limits.
func plan(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	return env.Program(checked, cel.CostLimit(maxCost), cel.CostTracking(meter{}),
		cel.CustomDecoratorV2(func(step interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
			return guarded(env, step)
		}))
}

// meter measures calls that CEL counts as one operation if it does not know the types of their arguments, and deep
// comparisons.
type meter struct{}

// CallCost implements [interpreter.ActualCostEstimator].
func (meter) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	var cost uint64
	switch function {
	case operators.Add:
		cost = sumCost(args[0], args[1])
	case operators.Equals, operators.NotEquals:
		cost = min(weight(args[0]), weight(args[1])) / 10
	case operators.In:
		if _, ok := args[1].(traits.Mapper); !ok {
			cost = weight(args[1])
		}
	default:
		return nil
	}
	cost++
	return &cost
}

// sumCost is the cost of a sum. A sum of texts copies both. A sum of lists refers to them, so that only its size counts:
// repeated doubling would overflow every loop over it.
func sumCost(a, b ref.Val) uint64 {
	if _, ok := a.(traits.Lister); ok {
		return min(size(a), size(b))
	}
	return (size(a) + size(b)) / 10
}

// size returns the length of a text, list or map; 1 for other values.
func size(value ref.Val) uint64 {
	if text, ok := value.(types.String); ok {
		return uint64(len(text)) // in bytes, because counting characters takes time
	}
	if sizer, ok := value.(traits.Sizer); ok {
		if n, ok := sizer.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

// weight returns the size of a value with all that it contains. It stops after 1 MiB.
func weight(value ref.Val) uint64 {
	list, isList := value.(traits.Lister)
	object, isMap := value.(traits.Mapper)
	if !isList && !isMap {
		return size(value)
	}
	total := uint64(1)
	var it traits.Iterator
	if isList {
		it = list.Iterator()
	} else {
		it = object.Iterator()
	}
	for total <= maxBuilt && it.HasNext() == types.True {
		element := it.Next()
		total += weight(element)
		if isMap {
			total += weight(object.Get(element))
		}
	}
	return total
}

// growth returns the least size of the result of a function that multiplies texts. CEL would measure the result after it
// has been built.
var growth = map[string]func(args []ref.Val) uint64{
	"replace": func(args []ref.Val) uint64 {
		text, _ := args[0].(types.String)
		old, _ := args[1].(types.String)
		return uint64(strings.Count(string(text), string(old))) * size(args[2])
	},
	"join": func(args []ref.Val) uint64 {
		if len(args) == 1 {
			return weight(args[0])
		}
		return size(args[0])*size(args[1]) + weight(args[0])
	},
	"format": func(args []ref.Val) uint64 { return weight(args[1]) },
}

// guarded refuses a call of a function in growth whose result would be too large.
func guarded(env *cel.Env, step interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	call, ok := step.(interpreter.InterpretableCall)
	if !ok || growth[call.Function()] == nil {
		return step, nil
	}
	bindings, err := env.Functions()[call.Function()].Bindings()
	if err != nil {
		return nil, err
	}
	for _, binding := range bindings {
		if binding.Operator != call.OverloadID() {
			continue
		}
		return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), func(args ...ref.Val) ref.Val {
			switch {
			case growth[call.Function()](args) > maxBuilt:
				return types.WrapErr(errCost)
			case binding.Unary != nil:
				return binding.Unary(args[0])
			case binding.Binary != nil:
				return binding.Binary(args[0], args[1])
			default:
				return binding.Function(args...)
			}
		}), nil
	}
	return nil, fmt.Errorf("no such overload: %s", call.Function())
}
