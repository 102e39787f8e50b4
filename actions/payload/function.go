package payload

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"text/template"
	"time"
)

// functions adds to the builtin functions of templates. They have no effects, and depend only on their
// arguments. The functions of package text/template with the same names support neither times nor limits.
var functions = template.FuncMap{
	"eq":       equal,
	"ne":       func(a, b any) (bool, error) { same, err := equal(a, b); return !same, err },
	"lt":       ordered(func(c int) bool { return c < 0 }),
	"le":       ordered(func(c int) bool { return c <= 0 }),
	"gt":       ordered(func(c int) bool { return c > 0 }),
	"ge":       ordered(func(c int) bool { return c >= 0 }),
	"print":    joined(fmt.Sprint),
	"println":  joined(fmt.Sprintln),
	"printf":   printf,
	"json":     jsonText,
	"date":     func(layout string, m *moment) (string, error) { return m.Format(layout) },
	"default":  fallback,
	"get":      get,
	"upper":    onText(func(v any) string { return strings.ToUpper(text(v)) }),
	"lower":    onText(func(v any) string { return strings.ToLower(text(v)) }),
	"trim":     onText(func(v any) string { return strings.TrimSpace(text(v)) }),
	"urlquery": onText(func(v any) string { return url.QueryEscape(text(v)) }),
	"base64":   onText(func(v any) string { return base64.StdEncoding.EncodeToString([]byte(text(v))) }),
	"replace":  replace,
	"trunc":    trunc,
}

// builtins are the functions of package text/template that templates have, too.
var builtins = map[string]any{"and": true, "or": true, "not": true, "len": true}

var errTooLong = fmt.Errorf("the text is longer than the allowed %d bytes", maxValue)

// within enforces the size limit of a function's result.
func within(made string) (string, error) {
	if len(made) > maxValue {
		return "", errTooLong
	}
	return made, nil
}

// text is how a value is printed.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

func onText(f func(v any) string) func(v any) (string, error) {
	return func(v any) (string, error) { return within(f(v)) }
}

func joined(f func(args ...any) string) func(args ...any) (string, error) {
	return func(args ...any) (string, error) {
		size := 0
		for _, arg := range args {
			if size += len(text(arg)); size > maxValue {
				return "", errTooLong
			}
		}
		return within(f(args...))
	}
}

// jsonText returns a value as JSON. Only the limit of the output applies to objects and lists, which no function makes.
func jsonText(v any) (string, error) {
	made := toJSON(v)
	if isComposite(v) && len(made) <= maxOutput {
		return made, nil
	}
	return within(made)
}

// isComposite reports whether v is an object or a list.
func isComposite(v any) bool {
	_, object := fieldsOf(v)
	_, array := v.(list)
	return object || array
}

// toJSON returns a value as JSON.
func toJSON(v any) string {
	if fields, ok := fieldsOf(v); ok {
		return cmp.Or(printed(fields), "null")
	}
	switch v := v.(type) {
	case bool, int, int64, float64:
		return fmt.Sprint(v)
	case list:
		return string(appendValue(nil, v))
	case number:
		return string(v)
	case *moment:
		if v == nil {
			return "null"
		}
	case *failure:
		if v == nil {
			return "null"
		}
		return fmt.Sprintf(`{"status":%d,"attempts":%d,"message":%s}`, v.Status(), v.Attempts(), appendJSON(nil, v.Message()))
	}
	return string(appendJSON(nil, text(v)))
}

// fallback returns its last argument, or the one before if that is empty.
func fallback(otherwise, v any) any {
	if truth, _ := template.IsTrue(v); truth {
		return v
	}
	return otherwise
}

// get returns the value at a path below v; [absent], if it does not exist.
func get(v any, path ...string) any {
	for _, name := range path {
		fields, _ := fieldsOf(v)
		value, found := fields[name]
		if !found {
			return absent(nil)
		}
		v = value
	}
	return v
}

// replace returns its third argument with each of the first replaced by the second.
func replace(old, replacement, v any) (string, error) {
	found, put, in := text(old), text(replacement), text(v)
	if found == "" {
		return "", errors.New("cannot look for an empty text")
	}
	if len(in)+strings.Count(in, found)*(len(put)-len(found)) > maxValue {
		return "", errTooLong
	}
	return strings.ReplaceAll(in, found, put), nil
}

// trunc returns the first n characters of a text.
func trunc(n int, v any) (string, error) {
	if n < 0 {
		return "", errors.New("a text cannot have fewer than no characters")
	}
	made := text(v)
	for i := range made {
		if n == 0 {
			return made[:i], nil
		}
		n--
	}
	return made, nil
}

// equal reports whether the first argument equals one of the others.
func equal(a, b any, more ...any) (bool, error) {
	for _, b := range append([]any{b}, more...) {
		if c, err := compare(a, b); c == 0 || err != nil {
			return err == nil, err
		}
	}
	return false, nil
}

// ordered makes a function of a relation.
func ordered(holds func(c int) bool) func(a, b any) (bool, error) {
	return func(a, b any) (bool, error) {
		c, err := compare(a, b)
		return err == nil && holds(c), err
	}
}

// compare compares two times by the instant, no time being the first, two numbers, or two texts. A value that a run
// without events lacks is before all others.
func compare(a, b any) (int, error) {
	if _, ok := a.(absent); ok {
		return -1, nil
	}
	if _, ok := b.(absent); ok {
		return 1, nil
	}
	for _, v := range []any{a, b} {
		if isComposite(v) {
			return 0, fmt.Errorf("%s cannot be compared", kindOf(reflect.TypeOf(v)))
		}
	}
	switch x := plain(a).(type) {
	case time.Time:
		if y, ok := plain(b).(time.Time); ok {
			return x.Compare(y), nil
		}
	case float64:
		if y, ok := plain(b).(float64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := plain(b).(string); ok {
			return strings.Compare(x, y), nil
		}
	}
	return 0, fmt.Errorf("%s cannot be compared with %s", kindOf(reflect.TypeOf(a)), kindOf(reflect.TypeOf(b)))
}

// plain returns the comparable form of a value: a time.Time, a float64, or its text.
func plain(v any) any {
	switch v := v.(type) {
	case *moment:
		if v == nil {
			return time.Time{}
		}
		return v.t
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return text(v)
}

// formats matches the formats of printf: no argument but by its turn, and no width or precision above 256.
var formats = regexp.MustCompile(strings.ReplaceAll(
	`^(?:[^%]|%%|%[-+# 0]*N?(?:\.N?)?[vsqxXdbocUtfFeEgG])*$`, "N", `(?:[01]?\d?\d|2[0-4]\d|25[0-6])`,
))

// printf formats as package fmt does, without that package's marks for errors. It makes nothing of a value that a run
// without events lacks.
func printf(format string, args ...any) (string, error) {
	if !formats.MatchString(format) {
		return "", errors.New("the verbs are %v %s %q %x %d %b %o %c %U %t %f %e %g, with a width and a precision of at most 256")
	}
	size, marks := len(format), strings.Count(format, "%!")
	for i, arg := range args {
		printed := text(arg)
		switch arg.(type) {
		case bool, int, int64, float64:
		case absent:
			return "", nil
		default:
			args[i] = printed
		}
		if size += 256 + len(printed); size > 2*maxValue {
			return "", errTooLong
		}
		marks += strings.Count(printed, "%!")
	}
	made := fmt.Sprintf(format, args...)
	if strings.Count(made, "%!") > marks {
		return "", fmt.Errorf("the verbs of the format do not fit its arguments: %s", made)
	}
	return within(made)
}
