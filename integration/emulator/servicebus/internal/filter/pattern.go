package filter

import (
	"strings"
	"unicode/utf8"
)

type patternKind uint8

const (
	patternEnd patternKind = iota
	patternLiteral
	patternOne
	patternAny
)

// cut takes the first element off a pattern of LIKE.
func cut(pattern, escape string) (literal, rest string, kind patternKind) {
	if pattern == "" {
		return "", "", patternEnd
	}
	if escape != "" && strings.HasPrefix(pattern, escape) && len(pattern) > len(escape) {
		pattern = pattern[len(escape):]
		n := runeLen(pattern)
		return pattern[:n], pattern[n:], patternLiteral
	}
	switch pattern[0] {
	case '%':
		return "", pattern[1:], patternAny
	case '_':
		return "", pattern[1:], patternOne
	}
	n := runeLen(pattern)
	return pattern[:n], pattern[n:], patternLiteral
}

func runeLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
