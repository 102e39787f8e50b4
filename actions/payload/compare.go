package payload

import (
	"cmp"
	"fmt"

	"github.com/carillon-sched/carillon/scheduler"
)

// equal reports whether the first argument equals one of the others.
func equal(args []any) (any, error) {
	for _, arg := range args[1:] {
		c, known, err := compare(args[0], arg)
		if err != nil {
			return nil, err
		}
		if known && c == 0 {
			return true, nil
		}
	}
	return false, nil
}

// ordered makes a function of a relation.
func ordered(holds func(c int) bool) func(args []any) (any, error) {
	return func(args []any) (any, error) {
		_, truths := args[0].(bool)
		c, known, err := compare(args[0], args[1])
		if err == nil && (truths || !known) {
			err = fmt.Errorf("%s and %s have no order", kindOf(args[0]), kindOf(args[1]))
		}
		if err != nil {
			return nil, err
		}
		return holds(c), nil
	}
}

// compare compares two values of one kind. Numbers compare by what they are worth, a job is its text. Nothing equals
// nothing alone, which is known, and the order of it and anything else is not.
func compare(a, b any) (c int, known bool, err error) {
	a, b = plainValue(a), plainValue(b)
	if a == nil || b == nil {
		return 0, a == b, nil
	}
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b), true, nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			return map[bool]int{true: 0, false: 1}[a == b], true, nil
		}
	case moment:
		if b, ok := b.(moment); ok {
			return a.t.Compare(b.t), true, nil
		}
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), true, nil
		case float64:
			return cmp.Compare(float64(a), b), true, nil
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, float64(b)), true, nil
		case float64:
			return cmp.Compare(a, b), true, nil
		}
	}
	return 0, false, fmt.Errorf("%s cannot be compared with %s", kindOf(a), kindOf(b))
}

func plainValue(v any) any {
	switch v := v.(type) {
	case scheduler.Key:
		return v.String()
	case scheduler.Failure:
		return v.Message
	}
	return v
}
