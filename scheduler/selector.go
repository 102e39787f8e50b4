package scheduler

import (
	"fmt"
	"slices"
	"strings"
)

// Selector selects jobs by their labels. The zero Selector selects all.
type Selector []requirement

// requirement is a condition on one label.
type requirement struct {
	name   string
	values []string // allowed values, or with not excluded values; nil: any
	not    bool
}

// Matches reports whether labels meet every requirement.
func (s Selector) Matches(labels map[string]string) bool {
	return s.MatchesBy(func(name string) (string, bool) {
		value, there := labels[name]
		return value, there
	})
}

// MatchesBy is Matches with a function that looks up a label.
func (s Selector) MatchesBy(label func(name string) (value string, there bool)) bool {
	for _, r := range s {
		value, there := label(r.name)
		if met := there && (r.values == nil || slices.Contains(r.values, value)); met == r.not {
			return false
		}
	}
	return true
}

// selectorPath is the path of problems: the query parameter of a list.
const selectorPath = "labelSelector"

// ParseSelector parses a label selector of Kubernetes: requirements between commas, which must all hold.
//
//	name = value        the label has this value; also ==
//	name != value       it has another value, or is absent
//	name in (a, b)      it has one of these values
//	name notin (a, b)   it has none of these values, or is absent
//	name                it is present
//	!name               it is absent
//
// Names and values may contain letters, digits and - _ . / : @ + *; others need single or double quotes. An empty text
// selects all. Errors match [ErrInvalid] and state the column.
func ParseSelector(text string) (Selector, error) {
	p := selectorParser{text: text}
	p.next()
	if p.token == "" && !p.quoted {
		return nil, p.err()
	}
	var s Selector
	for {
		s = append(s, p.requirement())
		if p.problem != "" || p.token == "" && !p.quoted {
			return s, p.err()
		}
		p.expect(",")
	}
}

// selectorParser parses a selector token by token. It stops after the first problem.
type selectorParser struct {
	text    string
	at, end int    // start of the token, and start of the rest
	token   string // "" at the end
	quoted  bool   // a quoted token is always a word
	problem string
}

// err returns the first problem.
func (p *selectorParser) err() error {
	if p.problem == "" {
		return nil
	}
	return Invalid(selectorPath, p.problem)
}

// failf records the first problem.
func (p *selectorParser) failf(format string, args ...any) {
	if p.problem == "" {
		p.problem = fmt.Sprintf("column %d: ", p.at+1) + fmt.Sprintf(format, args...)
	}
	p.token, p.quoted, p.end = "", false, len(p.text)
}

// found returns the current token for messages.
func (p *selectorParser) found() string {
	if p.token == "" && !p.quoted {
		return "nothing"
	}
	return fmt.Sprintf("%q", p.token)
}

// wordLetters are the characters of names and values in addition to letters and digits.
const wordLetters = "-_./:@+*"

func isWordLetter(c byte) bool {
	return c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(wordLetters, c) >= 0
}

// next advances to the next token.
func (p *selectorParser) next() {
	rest := strings.TrimLeft(p.text[p.end:], " \t\r\n")
	p.at, p.quoted, p.token = len(p.text)-len(rest), false, ""
	if rest == "" {
		p.end = len(p.text)
		return
	}
	length := 1
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		inside := strings.IndexByte(rest[1:], c)
		if inside < 0 {
			p.failf("the quote is not closed")
			return
		}
		p.token, p.quoted, p.end = rest[1:inside+1], true, p.at+inside+2
		return
	case strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "!="):
		length = 2
	case strings.IndexByte("=!(),", c) >= 0:
	case isWordLetter(c):
		for length < len(rest) && isWordLetter(rest[length]) {
			length++
		}
	default:
		p.failf("%q must stand in quotes", c)
		return
	}
	p.token, p.end = rest[:length], p.at+length
}

// isWord reports whether the token is a name or a value.
func (p *selectorParser) isWord() bool { return p.quoted || p.token != "" && isWordLetter(p.token[0]) }

// is reports whether the token equals token, and then advances.
func (p *selectorParser) is(token string) bool {
	if p.quoted || p.token != token {
		return false
	}
	p.next()
	return true
}

func (p *selectorParser) expect(token string) {
	if !p.is(token) {
		p.failf("%q was expected here, not %s", token, p.found())
	}
}

// word parses a name or a value.
func (p *selectorParser) word(what string) string {
	if !p.isWord() {
		p.failf("%s was expected here, not %s", what, p.found())
		return ""
	}
	word := p.token
	p.next()
	return word
}

const labelName = "the name of a label"

func (p *selectorParser) requirement() requirement {
	if p.is("!") {
		return requirement{name: p.word(labelName), not: true}
	}
	r := requirement{name: p.word(labelName)}
	switch {
	case p.is("="), p.is("=="):
		r.values = p.value()
	case p.is("!="):
		r.values, r.not = p.value(), true
	case p.is("in"):
		r.values = p.set()
	case p.is("notin"):
		r.values, r.not = p.set(), true
	case p.token != "" && p.token != "," || p.quoted:
		p.failf("=, !=, in or notin was expected here, not %s", p.found())
	}
	return r
}

// value parses the value after an operator; a missing one is empty.
func (p *selectorParser) value() []string {
	if p.token == "" && !p.quoted || p.token == "," {
		return []string{""}
	}
	return []string{p.word("a value")}
}

// set parses values in parentheses.
func (p *selectorParser) set() []string {
	p.expect("(")
	values := []string{p.word("a value")}
	for p.is(",") {
		values = append(values, p.word("a value"))
	}
	p.expect(")")
	return values
}
