package filter

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/amqp"
)

// The bounds of expressions and actions.
const (
	MaxLength     = 1024 // bytes
	MaxDepth      = 64
	MaxStatements = 32

	maxText = 64 << 10 // what "+" may make of text
)

// A parser compiles tokens by recursive descent.
type parser struct {
	lexer      lexer
	token      token
	parameters amqp.Map
	depth      int
}

func newParser(input string, parameters amqp.Map) (*parser, error) {
	p := &parser{lexer: lexer{input: input}, parameters: parameters}
	if len(input) > MaxLength {
		return nil, p.lexer.errorf(MaxLength, "longer than %d bytes", MaxLength)
	}
	err := p.advance()
	return p, err
}

func (p *parser) advance() (err error) {
	p.token, err = p.lexer.next()
	return err
}

func (p *parser) errorf(format string, args ...any) error {
	return p.lexer.errorf(p.token.position, format, args...)
}

func (p *parser) is(kind tokenKind, text string) bool {
	return p.token.kind == kind && p.token.text == text
}
func (p *parser) isKeyword(word string) bool  { return p.is(tokenKeyword, word) }
func (p *parser) isSymbol(symbol string) bool { return p.is(tokenSymbol, symbol) }

// accept steps over a token if it is next.
func (p *parser) accept(kind tokenKind, text string) (bool, error) {
	if !p.is(kind, text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(kind tokenKind, text string) error {
	if !p.is(kind, text) {
		return p.errorf("%q is due, not %v", text, p.token)
	}
	return p.advance()
}

func (p *parser) enter() error {
	p.depth++
	if p.depth > MaxDepth {
		return p.errorf("nested deeper than %d", MaxDepth)
	}
	return nil
}

// isPredicate says that a node is true, false or unknown whatever the message.
func isPredicate(n node) bool {
	switch n.(type) {
	case notNode, boolNode, andNode, orNode, isNull, inNode, compareNode, likeNode:
		return true
	default:
		return false
	}
}

// predicate makes a node usable as a predicate.
func (p *parser) predicate(n node, at int) (node, error) {
	if isPredicate(n) {
		return n, nil
	}
	switch n := n.(type) {
	case userNode, sysNode, badNode:
		return boolNode{n}, nil
	case constant:
		if n.value.kind == boolean || n.value.kind == unknown {
			return boolNode{n}, nil
		}
	}
	return nil, p.lexer.errorf(at, "a predicate is due, such as a comparison")
}

// expression checks that a node is not a predicate.
func (p *parser) expression(n node, at int) (node, error) {
	if isPredicate(n) {
		return nil, p.lexer.errorf(at, "an expression is due, not a predicate")
	}
	return n, nil
}

// or parses a predicate, or an expression if there is no operator of predicates.
func (p *parser) or() (node, error) {
	return p.chain("OR", p.and, func(left, right node) node { return orNode{left, right} })
}

func (p *parser) and() (node, error) {
	return p.chain("AND", p.not, func(left, right node) node { return andNode{left, right} })
}

// chain parses operands with a keyword between them.
func (p *parser) chain(keyword string, operand func() (node, error), join func(left, right node) node) (node, error) {
	at := p.token.position
	left, err := operand()
	if err != nil || !p.isKeyword(keyword) {
		return left, err
	}
	if left, err = p.predicate(left, at); err != nil {
		return nil, err
	}
	depth := p.depth
	defer func() { p.depth = depth }()
	for p.isKeyword(keyword) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		at := p.token.position
		right, err := operand()
		if err != nil {
			return nil, err
		}
		if right, err = p.predicate(right, at); err != nil {
			return nil, err
		}
		left = join(left, right)
	}
	return left, nil
}

func (p *parser) not() (node, error) {
	ok, err := p.accept(tokenKeyword, "NOT")
	if err != nil {
		return nil, err
	}
	if !ok {
		return p.comparison()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	at := p.token.position
	operand, err := p.not()
	if err != nil {
		return nil, err
	}
	operand, err = p.predicate(operand, at)
	return notNode{operand}, err
}

var comparisons = []string{"=", "<>", "!=", "<", "<=", ">", ">="}

// comparison parses an expression and what is asked of it.
func (p *parser) comparison() (node, error) {
	at := p.token.position
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	switch {
	case p.token.kind == tokenSymbol && slices.Contains(comparisons, p.token.text):
		return p.compare(left, at)
	case p.isKeyword("IS"):
		return p.isNull(left, at)
	case p.isKeyword("NOT"), p.isKeyword("IN"), p.isKeyword("LIKE"):
	default:
		return left, nil
	}
	if left, err = p.expression(left, at); err != nil {
		return nil, err
	}
	negated, err := p.accept(tokenKeyword, "NOT")
	if err != nil {
		return nil, err
	}
	var n node
	switch {
	case p.isKeyword("IN"):
		n, err = p.in(left)
	case p.isKeyword("LIKE"):
		n, err = p.like(left)
	default:
		err = p.errorf("IN or LIKE is due, not %v", p.token)
	}
	if err == nil && negated {
		n = notNode{n}
	}
	return n, err
}

func (p *parser) compare(left node, at int) (node, error) {
	left, err := p.expression(left, at)
	if err != nil {
		return nil, err
	}
	operator := p.token.text
	right, err := p.operand()
	return compareNode{operator, left, right}, err
}

// operand steps over an operator and parses the expression after it.
func (p *parser) operand() (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := p.token.position
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	return p.expression(n, at)
}

func (p *parser) isNull(left node, at int) (node, error) {
	left, err := p.expression(left, at)
	if err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	negated, err := p.accept(tokenKeyword, "NOT")
	if err != nil {
		return nil, err
	}
	if negated {
		return notNode{isNull{left}}, p.expect(tokenKeyword, "NULL")
	}
	return isNull{left}, p.expect(tokenKeyword, "NULL")
}

func (p *parser) in(left node) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isSymbol("(") {
		return nil, p.errorf("\"(\" is due, not %v", p.token)
	}
	n := inNode{operand: left}
	for {
		item, err := p.operand()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
		if !p.isSymbol(",") {
			return n, p.expect(tokenSymbol, ")")
		}
	}
}

func (p *parser) like(left node) (node, error) {
	n := likeNode{operand: left}
	var err error
	if n.pattern, err = p.operand(); err != nil {
		return nil, err
	}
	if p.isKeyword("ESCAPE") {
		at := p.token.position
		if n.escape, err = p.operand(); err != nil {
			return nil, err
		}
		if c, ok := n.escape.(constant); ok && (c.value.kind != text || len([]rune(c.value.text)) != 1) {
			return nil, p.lexer.errorf(at, "ESCAPE wants one character")
		}
	}
	return n, nil
}

func (p *parser) sum() (node, error)     { return p.arithmetic("+-", p.product) }
func (p *parser) product() (node, error) { return p.arithmetic("*/%", p.unary) }

// arithmetic parses operands with operators between them.
func (p *parser) arithmetic(operators string, operand func() (node, error)) (node, error) {
	at := p.token.position
	left, err := operand()
	for err == nil && p.token.kind == tokenSymbol && strings.Contains(operators, p.token.text) {
		operator := p.token.text[0]
		if left, err = p.expression(left, at); err != nil {
			break
		}
		if err = p.advance(); err != nil {
			break
		}
		var right node
		rightAt := p.token.position
		if right, err = operand(); err != nil {
			break
		}
		if right, err = p.expression(right, rightAt); err != nil {
			break
		}
		left = arithmetic{operator, left, right}
	}
	return left, err
}

func (p *parser) unary() (node, error) {
	if !p.isSymbol("+") && !p.isSymbol("-") {
		return p.primary()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	minus := p.token.text == "-"
	if err := p.advance(); err != nil {
		return nil, err
	}
	at := p.token.position
	operand, err := p.unary()
	if err != nil {
		return nil, err
	}
	if operand, err = p.expression(operand, at); err != nil || !minus {
		return operand, err
	}
	if c, ok := operand.(constant); ok && c.value.isNumber() {
		return constant{signNode{c}.eval(nil)}, nil
	}
	return signNode{operand}, nil
}

// primary parses a constant, property, parameter, function, or what is in parentheses.
func (p *parser) primary() (node, error) {
	t := p.token
	switch t.kind {
	case tokenText:
		return constant{textOf(t.text)}, p.advance()
	case tokenNumber:
		return p.number()
	case tokenParameter:
		name := "@" + t.text
		if !p.parameters.Has(name) {
			return nil, p.errorf("parameter %s has no value", name)
		}
		return constant{valueOf(p.parameters.Get(name))}, p.advance()
	case tokenName, tokenQuotedName:
		return p.name()
	case tokenKeyword:
		return p.keyword()
	case tokenEnd, tokenSymbol:
	}
	if !p.isSymbol("(") {
		return nil, p.errorf("an expression is due, not %v", t)
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	return n, p.expect(tokenSymbol, ")")
}

func (p *parser) keyword() (node, error) {
	switch p.token.text {
	case "TRUE":
		return constant{boolOf(true)}, p.advance()
	case "FALSE":
		return constant{boolOf(false)}, p.advance()
	case "NULL":
		return constant{}, p.advance()
	case "EXISTS":
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.expect(tokenSymbol, "("); err != nil {
			return nil, err
		}
		target, err := p.property()
		if err != nil {
			return nil, err
		}
		return notNode{isNull{target.node()}}, p.expect(tokenSymbol, ")")
	default:
		return nil, p.errorf("an expression is due, not %v", p.token)
	}
}

func (p *parser) number() (node, error) {
	digits := p.token.text
	base := 10
	if isHex(digits) {
		digits, base = digits[2:], 16
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return constant{integerOf(n)}, p.advance()
	}
	f, err := strconv.ParseFloat(strings.TrimRight(digits, "fFdDmM"), 64)
	if err != nil || base == 16 || math.IsInf(f, 0) {
		return nil, p.errorf("%q is not a number", p.token.text)
	}
	return constant{floatOf(f)}, p.advance()
}
