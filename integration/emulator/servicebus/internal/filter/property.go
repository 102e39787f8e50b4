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
func (p *parser) name() (node, error) {
	first := p.token
	target, err := p.property()
	if err != nil || !p.isSymbol("(") || first.kind != tokenName {
		return target.node(), err
	}
	if target.system || p.token.position != first.position+len(first.text) && strings.TrimSpace(
		p.lexer.input[first.position+len(first.text):p.token.position],
	) != "" {
		return nil, p.errorf("a system property is not a function")
	}
	return p.call(first)
}

// call parses the arguments of a function.
func (p *parser) call(name token) (node, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch strings.ToLower(name.text) {
	case "newid":
		return newIDNode{}, p.expect(tokenSymbol, ")")
	case "p", "property":
	default:
		return nil, p.lexer.errorf(name.position, "there is no function %q", name.text)
	}
	argument := p.token
	if argument.kind != tokenText && argument.kind != tokenName && argument.kind != tokenQuotedName {
		return nil, p.errorf("the name of a property is due, not %v", argument)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return userNode{argument.text}, p.expect(tokenSymbol, ")")
}

// property parses a name with its scope.
func (p *parser) property() (property, error) {
	first := p.token
	if first.kind != tokenName && first.kind != tokenQuotedName {
		return property{}, p.errorf("the name of a property is due, not %v", first)
	}
	if err := p.advance(); err != nil {
		return property{}, err
	}
	if !p.isSymbol(".") {
		return property{name: first.text}, nil
	}
	scope := strings.ToLower(first.text)
	if scope != "sys" && scope != "user" {
		return property{}, p.lexer.errorf(first.position, "scope %q is neither sys nor user", first.text)
	}
	if err := p.advance(); err != nil {
		return property{}, err
	}
	if p.token.kind != tokenName && p.token.kind != tokenQuotedName && p.token.kind != tokenKeyword {
		return property{}, p.errorf("the name of a property is due, not %v", p.token)
	}
	name := p.lexer.input[p.token.position : p.token.position+len(p.token.text)]
	if p.token.kind == tokenQuotedName {
		name = p.token.text
	}
	return property{system: scope == "sys", name: name}, p.advance()
}
