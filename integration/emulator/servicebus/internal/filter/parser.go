package filter

import (
	"math"
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

// A parser compiles tokens by recursive descent. After the first error, only the end remains to parse, and the results
// of its methods are invalid.
type parser struct {
	lexer      lexer
	token      token
	parameters amqp.Map
	depth      int
	err        error
	leaves     []leaf    // for [Filter.Explain]
	mentions   []mention // of properties, in the order of the text
}

func newParser(input string, parameters amqp.Map) *parser {
	p := &parser{lexer: lexer{input: input}, parameters: parameters}
	if len(input) > MaxLength {
		p.failAtf(MaxLength, "longer than %d bytes", MaxLength)
	}
	p.advance()
	return p
}

func (p *parser) advance() {
	if p.err != nil {
		return
	}
	if p.token, p.err = p.lexer.next(); p.err != nil {
		p.token = token{}
	}
}

// failf reports a problem with the present token.
func (p *parser) failf(format string, args ...any) { p.failAtf(p.token.position, format, args...) }

func (p *parser) failAtf(at int, format string, args ...any) {
	if p.err == nil {
		p.err = p.lexer.errorf(at, format, args...)
		p.token = token{}
	}
}

func (p *parser) is(kind tokenKind, text string) bool {
	return p.token.kind == kind && p.token.text == text
}

func (p *parser) isKeyword(word string) bool  { return p.is(tokenKeyword, word) }
func (p *parser) isSymbol(symbol string) bool { return p.is(tokenSymbol, symbol) }

// accept steps over a token if it is next.
func (p *parser) accept(kind tokenKind, text string) bool {
	if !p.is(kind, text) {
		return false
	}
	p.advance()
	return true
}

// expect returns the node if the token is next, and steps over it.
func (p *parser) expect(kind tokenKind, text string, n node) node {
	if !p.accept(kind, text) {
		p.failf("%q is due, not %v", text, p.token)
	}
	return n
}

// enter counts one level of nesting; leave it with p.depth--.
func (p *parser) enter() {
	p.depth++
	if p.depth > MaxDepth {
		p.failf("nested deeper than %d", MaxDepth)
	}
}

// isPredicate reports whether a node is always true, false or unknown.
func isPredicate(n node) bool {
	switch n.(type) {
	case notNode, boolNode, junction, isNull, inNode, compareNode, likeNode:
		return true
	default:
		return false
	}
}

// predicate makes a node usable as a predicate.
func (p *parser) predicate(n node, at int) node {
	if isPredicate(n) {
		return n
	}
	switch n := n.(type) {
	case userNode, sysNode, badNode:
		return p.asLeaf(boolNode{n}, at, len(p.mentions)-1)
	case constant:
		if n.value.kind == boolean || n.value.kind == unknown {
			return p.asLeaf(boolNode{n}, at, len(p.mentions))
		}
	}
	p.failAtf(at, "a predicate is due, such as a comparison")
	return n
}

// expression checks that a node is not a predicate.
func (p *parser) expression(n node, at int) node {
	if isPredicate(n) {
		p.failAtf(at, "an expression is due, not a predicate")
	}
	return n
}

// or parses a predicate, or an expression if no logical operator follows.
func (p *parser) or() node  { return p.chain("OR", p.and, boolOf(true)) }
func (p *parser) and() node { return p.chain("AND", p.not, boolOf(false)) }

// chain parses operands with a keyword between them.
func (p *parser) chain(keyword string, operand func() node, decisive value) node {
	at := p.token.position
	left := operand()
	if p.isKeyword(keyword) {
		left = p.predicate(left, at)
	}
	for p.accept(tokenKeyword, keyword) {
		at := p.token.position
		left = junction{decisive, left, p.predicate(operand(), at)}
	}
	return left
}

func (p *parser) not() node {
	if !p.accept(tokenKeyword, "NOT") {
		return p.comparison()
	}
	p.enter()
	defer func() { p.depth-- }()
	at := p.token.position
	return notNode{p.predicate(p.not(), at)}
}

// comparisons report whether an order is as an operator wants it.
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"<>": func(order int) bool { return order != 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// comparison parses an expression and its predicate, if any.
func (p *parser) comparison() node {
	at, mentions := p.token.position, len(p.mentions)
	left := p.sum()
	switch {
	case p.token.kind == tokenSymbol && comparisons[p.token.text] != nil:
		holds := comparisons[p.token.text]
		return p.asLeaf(compareNode{holds, p.expression(left, at), p.operand()}, at, mentions)
	case p.isKeyword("IS"):
		return p.asLeaf(p.isNull(p.expression(left, at)), at, mentions)
	case p.isKeyword("NOT"), p.isKeyword("IN"), p.isKeyword("LIKE"):
	default:
		return left
	}
	left = p.expression(left, at)
	negated := p.accept(tokenKeyword, "NOT")
	var n node
	switch {
	case p.isKeyword("IN"):
		n = p.in(left)
	case p.isKeyword("LIKE"):
		n = p.like(left)
	default:
		p.failf("IN or LIKE is due, not %v", p.token)
	}
	if negated {
		n = notNode{n}
	}
	return p.asLeaf(n, at, mentions)
}

// operand steps over an operator and parses the expression after it.
func (p *parser) operand() node {
	p.advance()
	at := p.token.position
	return p.expression(p.sum(), at)
}

func (p *parser) isNull(left node) node {
	p.advance()
	if p.accept(tokenKeyword, "NOT") {
		return p.expect(tokenKeyword, "NULL", notNode{isNull{left}})
	}
	return p.expect(tokenKeyword, "NULL", isNull{left})
}

func (p *parser) in(left node) node {
	p.advance()
	if !p.isSymbol("(") {
		p.failf("\"(\" is due, not %v", p.token)
	}
	n := inNode{operand: left}
	for {
		n.items = append(n.items, p.operand())
		if !p.isSymbol(",") {
			return p.expect(tokenSymbol, ")", n)
		}
	}
}

func (p *parser) like(left node) node {
	n := likeNode{operand: left, pattern: p.operand()}
	if p.isKeyword("ESCAPE") {
		at := p.token.position
		n.escape = p.operand()
		if c, ok := n.escape.(constant); ok && (c.value.kind != text || len([]rune(c.value.text)) != 1) {
			p.failAtf(at, "ESCAPE wants one character")
		}
	}
	return n
}

func (p *parser) sum() node     { return p.arithmetic("+-", p.product) }
func (p *parser) product() node { return p.arithmetic("*/%", p.unary) }

// arithmetic parses operands with operators between them.
func (p *parser) arithmetic(operators string, operand func() node) node {
	at := p.token.position
	left := operand()
	for p.token.kind == tokenSymbol && strings.Contains(operators, p.token.text) {
		operator := p.token.text[0]
		left = p.expression(left, at)
		p.advance()
		rightAt := p.token.position
		left = arithmetic{operator, left, p.expression(operand(), rightAt)}
	}
	return left
}

func (p *parser) unary() node {
	if !p.isSymbol("+") && !p.isSymbol("-") {
		return p.primary()
	}
	p.enter()
	defer func() { p.depth-- }()
	minus := p.isSymbol("-")
	p.advance()
	at := p.token.position
	operand := p.expression(p.unary(), at)
	if !minus {
		return operand
	}
	if c, ok := operand.(constant); ok && c.value.isNumber() {
		return constant{signNode{c}.eval(nil)}
	}
	return signNode{operand}
}

// primary parses a constant, property, parameter, function, or parenthesized expression.
func (p *parser) primary() node {
	t := p.token
	switch t.kind {
	case tokenText:
		return p.constant(textOf(t.text))
	case tokenNumber:
		return p.number()
	case tokenParameter:
		name := "@" + t.text
		if !p.parameters.Has(name) {
			p.failf("parameter %s has no value", name)
		}
		return p.constant(valueOf(p.parameters.Get(name)))
	case tokenName, tokenQuotedName:
		return p.name()
	case tokenKeyword:
		return p.keyword()
	case tokenEnd, tokenSymbol:
	}
	if !p.isSymbol("(") {
		p.failf("an expression is due, not %v", t)
		return nil
	}
	p.enter()
	defer func() { p.depth-- }()
	p.advance()
	return p.expect(tokenSymbol, ")", p.or())
}

// constant consumes a token with a value.
func (p *parser) constant(v value) node {
	p.advance()
	return constant{v}
}

func (p *parser) keyword() node {
	switch p.token.text {
	case "TRUE":
		return p.constant(boolOf(true))
	case "FALSE":
		return p.constant(boolOf(false))
	case "NULL":
		return p.constant(value{})
	case "EXISTS":
		return p.exists()
	default:
		p.failf("an expression is due, not %v", p.token)
		return nil
	}
}

func (p *parser) exists() node {
	at, mentions := p.token.position, len(p.mentions)
	p.advance()
	p.expect(tokenSymbol, "(", nil)
	name := p.token.position
	target := p.mention(name, p.property().node())
	return p.asLeaf(p.expect(tokenSymbol, ")", notNode{isNull{target}}), at, mentions)
}

func (p *parser) number() node {
	digits := p.token.text
	base := 10
	if isHex(digits) {
		digits, base = digits[2:], 16
	}
	if n, err := strconv.ParseInt(digits, base, 64); err == nil {
		return p.constant(integerOf(n))
	}
	f, err := strconv.ParseFloat(strings.TrimRight(digits, "fFdDmM"), 64)
	if err != nil || base == 16 || math.IsInf(f, 0) {
		p.failf("%q is not a number", p.token.text)
	}
	return p.constant(floatOf(f))
}
