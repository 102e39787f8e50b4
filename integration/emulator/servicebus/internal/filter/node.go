package filter

import (
	"crypto/rand"
	"math"
	"strings"
	"unicode/utf8"
)

// A node is a compiled expression.
type node interface {
	eval(m *Message) value
}

type (
	constant  struct{ value value }
	userNode  struct{ name string }
	sysNode   struct{ get func(m *Message) value }
	badNode   struct{ why string } // fails when it is evaluated
	newIDNode struct{}
	notNode   struct{ operand node }
	boolNode  struct{ operand node } // an expression in the place of a predicate
	signNode  struct{ operand node }
	junction  struct { // AND or OR
		decisive    value // which one side suffices for: false or true
		left, right node
	}
	isNull struct{ operand node }
	inNode struct {
		operand node
		items   []node
	}
	compareNode struct {
		holds       func(order int) bool
		left, right node
	}
	arithmetic struct {
		operator    byte
		left, right node
	}
	likeNode struct {
		operand node
		pattern node
		escape  node // nil for none
	}
)

func (n constant) eval(*Message) value   { return n.value }
func (n userNode) eval(m *Message) value { return m.user(n.name) }
func (n sysNode) eval(m *Message) value  { return n.get(m) }
func (n badNode) eval(*Message) value    { return failure(n.why) }

func (newIDNode) eval(*Message) value {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return value{kind: uuid, text: string(id)}
}

func (n boolNode) eval(m *Message) value {
	v := n.operand.eval(m)
	if v.kind == boolean || v.kind == failed {
		return v
	}
	return value{}
}

func (n notNode) eval(m *Message) value {
	v := n.operand.eval(m)
	if v.kind == boolean {
		v.number ^= 1
	}
	return v
}

func (n junction) eval(m *Message) value {
	left := n.left.eval(m)
	if left.kind == failed || left == n.decisive {
		return left
	}
	right := n.right.eval(m)
	if right.kind == failed || right == n.decisive || left.kind != unknown {
		return right
	}
	return left
}

func (n isNull) eval(m *Message) value {
	v := n.operand.eval(m)
	if v.kind == failed {
		return v
	}
	return boolOf(v.kind == unknown)
}

func (n inNode) eval(m *Message) value {
	v := n.operand.eval(m)
	if v.kind == unknown || v.kind == failed {
		return v
	}
	result := boolOf(false)
	for _, item := range n.items {
		other := item.eval(m)
		switch order, ordered := compare(v, other); {
		case other.kind == failed:
			return other
		case ordered && order == 0:
			return boolOf(true)
		case other.kind == unknown:
			result = other
		}
	}
	return result
}

func (n compareNode) eval(m *Message) value {
	left, right := n.left.eval(m), n.right.eval(m)
	order, ordered := compare(left, right)
	switch {
	case left.kind == failed:
		return left
	case right.kind == failed:
		return right
	case !ordered:
		return value{}
	}
	return boolOf(n.holds(order))
}

func (n signNode) eval(m *Message) value {
	v := n.operand.eval(m)
	switch v.kind {
	case integer:
		v.number = -v.number
	case float:
		v.float = -v.float
	case unknown, failed:
	default:
		return failure("a sign before what is not a number")
	}
	return v
}

func (n arithmetic) eval(m *Message) value {
	left, right := n.left.eval(m), n.right.eval(m)
	switch {
	case left.kind == failed:
		return left
	case right.kind == failed:
		return right
	case left.kind == unknown || right.kind == unknown:
		return value{}
	case left.kind == integer && right.kind == integer:
		return integers(n.operator, left.number, right.number)
	case left.isNumber() && right.isNumber():
		return floats(n.operator, left.asFloat(), right.asFloat())
	case n.operator == '+' && left.kind == text && right.kind == text:
		if len(left.text)+len(right.text) > maxText {
			return failure("text has become too long")
		}
		return textOf(left.text + right.text)
	default:
		return failure("\"" + string(rune(n.operator)) + "\" with what is not a number")
	}
}

func integers(operator byte, a, b int64) value {
	switch operator {
	case '+':
		return integerOf(a + b)
	case '-':
		return integerOf(a - b)
	case '*':
		return integerOf(a * b)
	}
	if b == 0 {
		return failure("division by zero")
	}
	if operator == '/' {
		return integerOf(a / b)
	}
	return integerOf(a % b)
}

func floats(operator byte, a, b float64) value {
	switch operator {
	case '+':
		return floatOf(a + b)
	case '-':
		return floatOf(a - b)
	case '*':
		return floatOf(a * b)
	case '/':
		return floatOf(a / b)
	default:
		return floatOf(math.Mod(a, b))
	}
}

func (n likeNode) eval(m *Message) value {
	operand, pattern, escape := n.operand.eval(m), n.pattern.eval(m), value{}
	if n.escape != nil {
		if escape = n.escape.eval(m); escape.kind == failed {
			return escape
		}
	}
	switch {
	case operand.kind == failed:
		return operand
	case pattern.kind == failed:
		return pattern
	case operand.kind != text || pattern.kind != text || n.escape != nil && escape.kind != text:
		return value{}
	}
	return boolOf(like(operand.text, pattern.text, escape.text))
}

// like matches text with a pattern in which "%" is any text and "_" any character, unless the escape is before it.
func like(s, pattern, escape string) bool {
	star, starText := "", "" // where to continue after the last "%", one character further each time
	starred := false
	for {
		literal, rest, kind := cut(pattern, escape)
		switch {
		case kind == patternAny:
			star, starText, starred = rest, s, true
			pattern = rest
			continue
		case kind == patternEnd && s == "":
			return true
		case kind == patternOne && s != "":
			s, pattern = s[runeLen(s):], rest
			continue
		case kind == patternLiteral && strings.HasPrefix(s, literal):
			s, pattern = s[len(literal):], rest
			continue
		}
		if !starred || starText == "" {
			return false
		}
		starText = starText[runeLen(starText):]
		s, pattern = starText, star
	}
}

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
