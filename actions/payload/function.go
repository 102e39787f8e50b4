package payload

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// function is a function of templates.
type function struct {
	least, most int // how many arguments; most -1: any number
	call        func(args []any) (any, error)
	grows       func(args []any) int // bytes of the result, where it can be much longer than the arguments
}

// functions are all there are, besides "and" and "or". None has an effect, or a result that depends on anything but its
// arguments.
var functions = map[string]function{
	"not":      {1, 1, func(args []any) (any, error) { return !truth(args[0]), nil }, nil},
	"eq":       {2, -1, equal, nil},
	"ne":       {2, 2, unequal, nil},
	"lt":       {2, 2, ordered(func(c int) bool { return c < 0 }), nil},
	"le":       {2, 2, ordered(func(c int) bool { return c <= 0 }), nil},
	"gt":       {2, 2, ordered(func(c int) bool { return c > 0 }), nil},
	"ge":       {2, 2, ordered(func(c int) bool { return c >= 0 }), nil},
	"len":      {1, 1, func(args []any) (any, error) { return int64(len(textOf(args[0]))), nil }, nil},
	"print":    {0, -1, func(args []any) (any, error) { return fmt.Sprint(printable(args)...), nil }, nil},
	"println":  {0, -1, func(args []any) (any, error) { return fmt.Sprintln(printable(args)...), nil }, nil},
	"printf":   {1, -1, printf, widths},
	"json":     {1, 1, func(args []any) (any, error) { return jsonOf(args[0]), nil }, nil},
	"date":     {2, 2, nil, nil}, // see apply
	"default":  {2, 2, fallback, nil},
	"upper":    {1, 1, onText(strings.ToUpper), nil},
	"lower":    {1, 1, onText(strings.ToLower), nil},
	"trim":     {1, 1, onText(strings.TrimSpace), nil},
	"urlquery": {1, 1, onText(url.QueryEscape), nil},
	"base64":   {1, 1, onText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }), nil},
	"replace":  {3, 3, replace, replaced},
	"trunc":    {2, 2, trunc, nil},
}

// unequal is the opposite of equal.
func unequal(args []any) (any, error) {
	same, err := equal(args)
	return !truth(same), err
}

// functionNames lists the functions for people.
func functionNames() string {
	return strings.Join(slices.Sorted(maps.Keys(functions)), ", ") + ", and, or"
}

// apply calls the function and keeps it within the bounds.
func (f function) apply(r *run, name string, args []any) (any, error) {
	switch {
	case len(args) < f.least:
		return nil, fmt.Errorf("%s needs %s", name, argumentCount(f.least))
	case f.most >= 0 && len(args) > f.most:
		return nil, fmt.Errorf("%s takes %s, not %d", name, argumentCount(f.most), len(args))
	case slices.Contains(args, any(whole{})):
		return nil, errWhole
	}
	size := 32
	for _, arg := range args {
		size += sizeOf(arg)
	}
	if f.grows != nil {
		size += f.grows(args)
		if size > 2*maxValue {
			return nil, tooLong(name)
		}
	}
	if err := r.charge(size); err != nil {
		return nil, err
	}
	if name == "date" {
		return r.date(args)
	}
	value, err := f.call(args)
	if err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok {
		if len(text) > maxValue {
			return nil, tooLong(name)
		}
		return value, r.charge(len(text))
	}
	return value, nil
}

func tooLong(name string) error {
	return fmt.Errorf("the text that %s makes is longer than the allowed %d bytes", name, maxValue)
}

func argumentCount(n int) string {
	if n == 1 {
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

// sizeOf is the length of what a value prints, about.
func sizeOf(v any) int {
	if text, ok := v.(string); ok {
		return len(text)
	}
	return len(textOf(v))
}

func onText(f func(string) string) func(args []any) (any, error) {
	return func(args []any) (any, error) { return f(textOf(args[0])), nil }
}

// date formats its last argument, a time, by the layout before it.
func (r *run) date(args []any) (any, error) {
	m, ok := args[1].(moment)
	if !ok {
		if args[1] == nil {
			return "", nil
		}
		return nil, fmt.Errorf("date takes a layout and a time, not %s", kindOf(args[1]))
	}
	layout, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("date takes a layout, such as 2006-01-02, not %s", kindOf(args[0]))
	}
	return r.format(m, layout)
}

// fallback returns its last argument, or the one before if that is empty.
func fallback(args []any) (any, error) {
	if truth(args[1]) {
		return args[1], nil
	}
	return args[0], nil
}

// replace returns its third argument with each of the first replaced by the second.
func replace(args []any) (any, error) {
	if textOf(args[0]) == "" {
		return nil, errors.New("replace cannot look for an empty text")
	}
	return strings.ReplaceAll(textOf(args[2]), textOf(args[0]), textOf(args[1])), nil
}

func replaced(args []any) int {
	found, put := textOf(args[0]), textOf(args[1])
	if found == "" {
		return 0
	}
	return strings.Count(textOf(args[2]), found) * len(put)
}

// trunc returns the first characters of a text.
func trunc(args []any) (any, error) {
	n, ok := args[0].(int64)
	if !ok || n < 0 {
		return nil, errors.New("trunc takes a number of characters and a text")
	}
	text := textOf(args[1])
	if n >= int64(utf8.RuneCountInString(text)) {
		return text, nil
	}
	for i := range text {
		if n == 0 {
			return text[:i], nil
		}
		n--
	}
	return text, nil
}
