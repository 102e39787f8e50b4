package filter

import "strings"

// A property is what a name stands for.
type property struct {
	system bool
	name   string
}

// node returns what evaluates the property.
func (p property) node() node {
	if !p.system {
		return userNode{p.name}
	}
	if known, ok := system[strings.ToLower(p.name)]; ok {
		return sysNode{known.get}
	}
	return badNode{"there is no system property " + p.name}
}

// name parses a property, or a function if a parenthesis follows.
func (p *parser) name() node {
	first := p.token
	target := p.property()
	if !p.isSymbol("(") || first.kind != tokenName {
		return p.mention(first.position, target.node())
	}
	end := first.position + len(first.text)
	if target.system || strings.TrimSpace(p.lexer.input[end:p.token.position]) != "" {
		p.failf("a system property is not a function")
	}
	return p.call(first)
}

// call parses the arguments of a function.
func (p *parser) call(name token) node {
	p.advance()
	switch strings.ToLower(name.text) {
	case "newid":
		return p.expect(tokenSymbol, ")", newIDNode{})
	case "p", "property":
	default:
		p.failAtf(name.position, "there is no function %q", name.text)
	}
	argument := p.token
	if argument.kind != tokenText && argument.kind != tokenName && argument.kind != tokenQuotedName {
		p.failf("the name of a property is due, not %v", argument)
	}
	p.advance()
	return p.mention(name.position, p.expect(tokenSymbol, ")", userNode{argument.text}))
}

// property parses a name with its scope.
func (p *parser) property() property {
	first := p.token
	if first.kind != tokenName && first.kind != tokenQuotedName {
		p.failf("the name of a property is due, not %v", first)
	}
	p.advance()
	if !p.isSymbol(".") {
		return property{name: first.text}
	}
	scope := strings.ToLower(first.text)
	if scope != "sys" && scope != "user" {
		p.failAtf(first.position, "scope %q is neither sys nor user", first.text)
	}
	p.advance()
	if p.token.kind != tokenName && p.token.kind != tokenQuotedName && p.token.kind != tokenKeyword {
		p.failf("the name of a property is due, not %v", p.token)
	}
	name := p.lexer.input[p.token.position : p.token.position+len(p.token.text)]
	if p.token.kind == tokenQuotedName {
		name = p.token.text
	}
	p.advance()
	return property{system: scope == "sys", name: name}
}
