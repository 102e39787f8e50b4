package payload

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
)

// maxWidth is the greatest width and precision of a verb.
const maxWidth = 256

// verb is one verb of a format, with the width and precision that it asks for.
type verb struct {
	letter rune
	width  int
}

// printf formats as package fmt does. Every verb has an argument and every argument a verb that can print it, so none of
// that package's marks for errors come out.
func printf(args []any) (any, error) {
	format, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("printf takes a format, not %s", kindOf(args[0]))
	}
	verbs, err := readFormat(format)
	if err != nil {
		return nil, err
	}
	values := args[1:]
	if len(verbs) != len(values) {
		return nil, fmt.Errorf("the format %s has %d verbs for %d arguments", strconv.Quote(format), len(verbs), len(values))
	}
	plain := make([]any, len(values))
	for i, v := range verbs {
		if plain[i], ok = forVerb(v.letter, values[i]); !ok {
			return nil, fmt.Errorf("%%%c cannot print %s", v.letter, kindOf(values[i]))
		}
	}
	return fmt.Sprintf(format, plain...), nil
}

// widths is what the widths of a format add to its output, and quoting and hexadecimals at most.
func widths(args []any) int {
	format, _ := args[0].(string)
	verbs, _ := readFormat(format)
	sum := 0
	for _, v := range verbs {
		sum += v.width
	}
	return sum
}

// readFormat returns the verbs of a format.
func readFormat(format string) ([]verb, error) {
	var verbs []verb
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return verbs, nil
		}
		if after, escaped := strings.CutPrefix(rest, "%"); escaped {
			format = after
			continue
		}
		rest = strings.TrimLeft(rest, "+-# 0")
		width, rest, err := readWidth(rest)
		if err == nil && strings.HasPrefix(rest, ".") {
			var precision int
			precision, rest, err = readWidth(rest[1:])
			width += precision
		}
		if err != nil {
			return nil, err
		}
		letter, size := utf8.DecodeRuneInString(rest)
		if size == 0 || !strings.ContainsRune("vsqxXdbocUtfFeEgG", letter) {
			return nil, fmt.Errorf("printf knows the verbs %%v %%s %%q %%x %%d %%b %%o %%c %%U %%t %%f %%e %%g, and not %%%s", rest[:size])
		}
		verbs = append(verbs, verb{letter, width})
		format = rest[size:]
	}
}

// readWidth reads the number, if any, that s begins with.
func readWidth(s string) (width int, rest string, err error) {
	rest = strings.TrimLeft(s, "0123456789")
	digits := strings.TrimLeft(s[:len(s)-len(rest)], "0")
	if len(digits) > 3 {
		return 0, "", fmt.Errorf("a width or precision in a format is at most %d", maxWidth)
	}
	if digits != "" {
		if width, err = strconv.Atoi(digits); err != nil || width > maxWidth {
			return 0, "", fmt.Errorf("a width or precision in a format is at most %d", maxWidth)
		}
	}
	return width, rest, nil
}

// forVerb returns a value in the form that a verb takes.
func forVerb(letter rune, value any) (any, bool) {
	switch letter {
	case 'v':
		switch value.(type) {
		case bool, int64, float64:
			return value, true
		}
		return textOf(value), true
	case 's', 'q':
		if n, ok := value.(int64); ok && letter == 'q' {
			return n, true
		}
		return textOf(value), true
	case 't':
		truth, ok := value.(bool)
		return truth, ok
	case 'f', 'F', 'e', 'E', 'g', 'G':
		if n, ok := value.(int64); ok {
			return float64(n), true
		}
		number, ok := value.(float64)
		return number, ok
	case 'x', 'X':
		if n, ok := value.(int64); ok {
			return n, true
		}
		return textOf(value), true
	}
	number, ok := value.(int64)
	return number, ok
}

// printable returns values in the form that package fmt prints as a template does.
func printable(values []any) []any {
	plain := make([]any, len(values))
	for i, value := range values {
		switch value := value.(type) {
		case nil, scheduler.Failure:
			plain[i] = textOf(value)
		default:
			plain[i] = value
		}
	}
	return plain
}
