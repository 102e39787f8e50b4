package document

import (
	"strconv"
	"strings"
)

// jsonParser is a recursive-descent reader of RFC 8259 text that is known to be UTF-8. Strings without escapes share the
// text's memory. Unfinished objects and arrays grow on two stacks, so that each finished one is allocated once.
type jsonParser struct {
	text    string
	pos     int
	depth   int
	items   []Value
	members []Member
}

// parseJSON reads a whole text. The error is a Problem.
func parseJSON(text string) (Value, error) {
	p := jsonParser{text: text}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(text) {
		return Value{}, p.fail("nothing may follow the document")
	}
	return v, nil
}

func (p *jsonParser) value() (Value, error) {
	p.space()
	switch c := p.peek(); c {
	case '{':
		return p.nested((*jsonParser).object)
	case '[':
		return p.nested((*jsonParser).array)
	case '"':
		s, err := p.string()
		return Value{kind: KindString, text: s}, err
	case 't', 'f', 'n':
		return p.literal()
	default:
		return p.number()
	}
}

// nested reads an object or array one level deeper.
func (p *jsonParser) nested(read func(*jsonParser) (Value, error)) (Value, error) {
	if p.depth == maxDepth {
		return Value{}, p.fail("nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	p.depth++
	p.pos++ // the opening bracket
	v, err := read(p)
	p.depth--
	return v, err
}

func (p *jsonParser) array() (Value, error) {
	base := len(p.items)
	for more := !p.skip(']'); more; {
		item, err := p.value()
		if err != nil {
			return Value{}, within(element("", len(p.items)-base), err)
		}
		p.items = append(p.items, item)
		if more, err = p.another(']'); err != nil {
			return Value{}, err
		}
	}
	v := ArrayValue(append([]Value(nil), p.items[base:]...)...)
	p.items = p.items[:base]
	return v, nil
}

func (p *jsonParser) object() (Value, error) {
	base := len(p.members)
	var names nameSet
	for more := !p.skip('}'); more; {
		name, err := p.name(&names, p.members[base:])
		if err != nil {
			return Value{}, err
		}
		v, err := p.value()
		if err != nil {
			return Value{}, within(member("", name), err)
		}
		p.members = append(p.members, Member{name, v})
		if more, err = p.another('}'); err != nil {
			return Value{}, err
		}
	}
	v := ObjectValue(append([]Member(nil), p.members[base:]...)...)
	p.members = p.members[:base]
	return v, nil
}

// name reads a member's name and the colon behind it.
func (p *jsonParser) name(names *nameSet, earlier []Member) (string, error) {
	p.space()
	if p.peek() != '"' {
		return "", p.fail("expected a field name in double quotes")
	}
	start := p.pos
	name, err := p.string()
	if err != nil {
		return "", err
	}
	if !names.add(name, earlier) {
		p.pos = start
		return "", p.fail("duplicate field " + strconv.Quote(name))
	}
	if !p.skip(':') {
		return "", p.fail("expected a colon after a field name") // the text may be no name, but a secret
	}
	return name, nil
}

// another moves behind a comma (true) or behind the closing bracket (false).
func (p *jsonParser) another(closing byte) (bool, error) {
	if p.skip(',') {
		return true, nil
	}
	if p.skip(closing) {
		return false, nil
	}
	return false, p.fail("expected a comma or " + string(rune(closing)))
}

// literal reads true, false or null.
func (p *jsonParser) literal() (Value, error) {
	word, v := "null", Value{}
	switch p.peek() {
	case 't':
		word, v = "true", BoolValue(true)
	case 'f':
		word, v = "false", BoolValue(false)
	}
	if !strings.HasPrefix(p.text[p.pos:], word) {
		return Value{}, p.fail("expected a value")
	}
	p.pos += len(word)
	return v, nil
}

// skip moves behind white space and then behind c, if c is next.
func (p *jsonParser) skip(c byte) bool {
	p.space()
	if p.peek() != c {
		return false
	}
	p.pos++
	return true
}

func (p *jsonParser) space() {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end. No token of JSON begins with a 0 byte.
func (p *jsonParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// fail returns a problem at the present position.
func (p *jsonParser) fail(message string) error {
	switch next := p.peek(); {
	case p.pos >= len(p.text):
		message += ", but the document ends"
	case next == '/' || next == '#':
		message += "; JSON has no comments"
	case (next == '}' || next == ']') && strings.HasSuffix(strings.TrimRight(p.text[:p.pos], " \t\r\n"), ","):
		message += "; JSON has no comma before " + string(rune(next))
	}
	return Problem{Message: at(p.text, p.pos) + message}
}

// within puts the path of an inner problem behind the path of what holds it.
func within(path string, err error) error {
	p := err.(Problem) //nolint:errorlint // the parsers return nothing else
	p.Path = join(path, p.Path)
	return p
}
