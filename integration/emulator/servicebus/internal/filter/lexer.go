package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A SyntaxError is an error in an expression, with its position.
type SyntaxError struct {
	Position int // in bytes, from 1
	Problem  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("at %d: %s", e.Position, e.Problem) }

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenQuotedName
	tokenKeyword
	tokenText
	tokenNumber
	tokenParameter
	tokenSymbol
)

// A token is a lexical element. The text of a keyword is in upper case; the text of a quoted element is its value.
type token struct {
	kind     tokenKind
	text     string
	position int
}

// String is how an error calls the token.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenText:
		return "text '" + t.text + "'"
	case tokenParameter:
		return "@" + t.text
	default:
		return "\"" + t.text + "\""
	}
}

var keywords = map[string]bool{
	"AND": true, "OR": true, "NOT": true, "IS": true, "NULL": true, "IN": true, "LIKE": true, "ESCAPE": true, "EXISTS": true,
	"TRUE": true, "FALSE": true, "SET": true, "REMOVE": true,
}

// A lexer cuts an expression into tokens.
type lexer struct {
	input string
	at    int
}

func (l *lexer) errorf(at int, format string, args ...any) error {
	return &SyntaxError{Position: at + 1, Problem: fmt.Sprintf(format, args...)}
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	for l.at < len(l.input) {
		r, size := utf8.DecodeRuneInString(l.input[l.at:])
		if !unicode.IsSpace(r) {
			break
		}
		l.at += size
	}
	start := l.at
	if start == len(l.input) {
		return token{tokenEnd, "", start}, nil
	}
	switch c := l.input[start]; {
	case c == '\'':
		text, err := l.quoted('\'', "text")
		return token{tokenText, text, start}, err
	case c == '[':
		text, err := l.quoted(']', "name")
		return token{tokenQuotedName, text, start}, err
	case c == '"':
		text, err := l.quoted('"', "name")
		return token{tokenQuotedName, text, start}, err
	case c == '@':
		l.at++
		name := l.word()
		if name == "" {
			return token{}, l.errorf(start, "a parameter without a name")
		}
		return token{tokenParameter, name, start}, nil
	case isDigit(c) || c == '.' && start+1 < len(l.input) && isDigit(l.input[start+1]):
		return token{tokenNumber, l.number(), start}, nil
	}
	if word := l.word(); word != "" {
		if upper := strings.ToUpper(word); keywords[upper] {
			return token{tokenKeyword, upper, start}, nil
		}
		return token{tokenName, word, start}, nil
	}
	return l.symbol()
}

func (l *lexer) symbol() (token, error) {
	start := l.at
	if two := l.input[start:min(start+2, len(l.input))]; two == "<>" || two == "!=" || two == "<=" || two == ">=" {
		l.at += 2
		return token{tokenSymbol, two, start}, nil
	}
	if !strings.ContainsRune("=<>()+-*/%,.;", rune(l.input[start])) {
		r, _ := utf8.DecodeRuneInString(l.input[start:])
		return token{}, l.errorf(start, "%q is not part of any expression", r)
	}
	l.at++
	return token{tokenSymbol, l.input[start:l.at], start}, nil
}

// quoted reads up to a closing quote; a doubled quote is an escaped one.
func (l *lexer) quoted(end byte, what string) (string, error) {
	start := l.at
	var text strings.Builder
	for l.at++; l.at < len(l.input); l.at++ {
		c := l.input[l.at]
		if c != end {
			text.WriteByte(c)
			continue
		}
		if l.at+1 < len(l.input) && l.input[l.at+1] == end {
			text.WriteByte(end)
			l.at++
			continue
		}
		l.at++
		return text.String(), nil
	}
	return "", l.errorf(start, "the %s does not end: %q is missing", what, end)
}

// word reads a letter, and letters, digits and underscores after it.
func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.input) {
		r, size := utf8.DecodeRuneInString(l.input[l.at:])
		if r == utf8.RuneError && size <= 1 || !unicode.IsLetter(r) && r != '_' && (l.at == start || !unicode.IsDigit(r)) {
			break
		}
		l.at += size
	}
	return l.input[start:l.at]
}

// number reads what may be a number; its form is checked when it is parsed.
func (l *lexer) number() string {
	start := l.at
	for l.at < len(l.input) {
		c := l.input[l.at]
		exponentSign := (c == '+' || c == '-') && (l.input[l.at-1]|0x20) == 'e' && !isHex(l.input[start:l.at])
		if !isDigit(c) && c != '.' && (c|0x20 < 'a' || c|0x20 > 'z') && !exponentSign {
			break
		}
		l.at++
	}
	return l.input[start:l.at]
}

func isHex(text string) bool { return len(text) >= 2 && text[0] == '0' && text[1]|0x20 == 'x' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
