package expression

import (
	"strings"

	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// work are the functions that take time or memory out of proportion to CEL's cost. Each entry counts the bytes of texts
// and the elements of lists and maps that a call handles.
var work = map[string]func(args []ref.Val) uint64{
	operators.Add:       sumWork,
	operators.Equals:    comparisonWork,
	operators.NotEquals: comparisonWork,
	operators.In: func(args []ref.Val) uint64 {
		if _, ok := args[1].(traits.Mapper); ok {
			return 1
		}
		return weight(args[1])
	},
	"replace": func(args []ref.Val) uint64 {
		text, _ := args[0].(types.String)
		old, _ := args[1].(types.String)
		return size(text) + uint64(strings.Count(string(text), string(old)))*size(args[2])
	},
	"join": func(args []ref.Val) uint64 {
		if len(args) == 1 {
			return weight(args[0])
		}
		return weight(args[0]) + size(args[0])*size(args[1])
	},
	"format":          listWork,
	"sets.contains":   setsWork,
	"sets.equivalent": setsWork,
	"sets.intersects": setsWork,
	"math.@max":       listWork,
	"math.@min":       listWork,
}

// linear are the functions that take time in proportion to their texts, which CEL counts as one operation.
var linear = map[string]bool{
	operators.Less: true, operators.LessEquals: true, operators.Greater: true, operators.GreaterEquals: true,
	overloads.Size: true, overloads.TypeConvertBytes: true, overloads.TypeConvertString: true,
	overloads.TypeConvertInt: true, overloads.TypeConvertUint: true, overloads.TypeConvertDouble: true,
	overloads.TypeConvertBool: true, overloads.TypeConvertTimestamp: true, overloads.TypeConvertDuration: true,
}

// textWork is the work of a linear function.
func textWork(args []ref.Val) uint64 {
	var total uint64
	for _, arg := range args {
		switch v := arg.(type) {
		case types.String:
			total += uint64(len(v))
		case types.Bytes:
			total += uint64(len(v))
		}
	}
	return total
}

// listWork is the work of a loop over the elements of the arguments.
func listWork(args []ref.Val) uint64 {
	var total uint64
	for _, arg := range args {
		total += weight(arg)
	}
	return total
}

// sumWork is the work of a sum. A sum of texts copies both. A sum of lists refers to them. Its size counts nevertheless,
// because every doubling of a list doubles the work of the loops over it.
func sumWork(args []ref.Val) uint64 {
	if _, ok := args[0].(traits.Lister); ok {
		return min(size(args[0]), size(args[1]))
	}
	return size(args[0]) + size(args[1])
}

// comparisonWork is the work of a comparison. Values of different sizes differ at first sight.
func comparisonWork(args []ref.Val) uint64 {
	if size(args[0]) != size(args[1]) {
		return 1
	}
	return weight(args[0])
}

// setsWork is the work of comparing each element of a list with each of another.
func setsWork(args []ref.Val) uint64 {
	return min(weight(args[0]), maxWork+1) * max(1, size(args[1]))
}

// size returns the bytes of a text, or the length of a list or map; 1 for other values.
func size(value ref.Val) uint64 {
	switch v := value.(type) {
	case types.String:
		return uint64(len(v))
	case traits.Sizer:
		if n, ok := v.Size().(types.Int); ok && n >= 0 {
			return uint64(n)
		}
	}
	return 1
}

// weight returns the size of a value with all that it contains. It stops counting above maxWork.
func weight(value ref.Val) uint64 {
	var it traits.Iterator
	object, isMap := value.(traits.Mapper)
	switch list, isList := value.(traits.Lister); {
	case isList:
		it = list.Iterator()
	case isMap:
		it = object.Iterator()
	default:
		return size(value)
	}
	total := uint64(1)
	for total <= maxWork && it.HasNext() == types.True {
		element := it.Next()
		total += weight(element)
		if isMap {
			total += weight(object.Get(element))
		}
	}
	return total
}
