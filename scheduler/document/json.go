package document

import (
	"strconv"
	"strings"
)

// jsonParser is a recursive-descent parser of RFC 8259 for valid UTF-8. Strings without escapes share the memory of the
// text.
type jsonParser struct {
	text     string
	comments bool // comments and trailing commas are allowed
	pos      int
	depth    int
	places   *places // nil unless requested
	cursor   cursor
}

// parseJSON parses a whole text. The error is a Problem.
func parseJSON(p *jsonParser) (Value, error) {
	p.space()
	if p.places != nil {
		p.places.begin(p.cursor.place(p.pos))
	}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	p.space()
	if p.pos < len(p.text) {
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

// nested parses an object or array one level deeper.
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
	var few [16]Value
	items := few[:0]
	for more := !p.skip(']'); more; {
		p.space()
		i := len(items)
		var item Value
		var err error
		if p.places == nil {
			item, err = p.value()
		} else {
			item, err = p.placed(p.pos, func(outer string) string { return element(outer, i) })
		}
		if err != nil {
			return Value{}, within(element("", i), err)
		}
		items = append(items, item)
		if more, err = p.another(']'); err != nil {
			return Value{}, err
		}
	}
	return ArrayValue(append([]Value(nil), items...)...), nil
}

func (p *jsonParser) object() (Value, error) {
	var few [usualMembers]Member
	members := few[:0]
	var names nameSet
	for more := !p.skip('}'); more; {
		p.space()
		start := p.pos
		name, err := p.name(&names, members)
		if err != nil {
			return Value{}, err
		}
		var v Value
		if p.places == nil {
			v, err = p.value()
		} else {
			v, err = p.placed(start, func(outer string) string { return member(outer, name) })
		}
		if err != nil {
			return Value{}, within(member("", name), err)
		}
		members = append(members, Member{name, v})
		if more, err = p.another('}'); err != nil {
			return Value{}, err
		}
	}
	return ObjectValue(append([]Member(nil), members...)...), nil
}

// placed parses a value and notes its position: start is the offset of its name, or of the value itself. path derives
// the value's path from the path of its parent.
func (p *jsonParser) placed(start int, path func(outer string) string) (Value, error) {
	p.space()
	if c := p.peek(); c != '{' && c != '[' {
		start = p.pos
	}
	outer := p.places.enter(path, p.cursor.place(start))
	v, err := p.value()
	p.places.path = outer
	return v, err
}

// name parses a field name and the colon after it.
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
		return "", p.fail("expected a colon after a field name") // the text may be a secret instead of a name
	}
	return name, nil
}

// another moves past a comma (true) or the closing bracket (false).
func (p *jsonParser) another(closing byte) (bool, error) {
	if p.skip(',') {
		return !p.comments || !p.skip(closing), nil
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

// skip moves past white space and then past c, if c is next.
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
		case '/':
			n := commentLength(p.text[p.pos:])
			if !p.comments || n == 0 {
				return
			}
			p.pos += n
		default:
			return
		}
	}
}

// beginsComment reports whether s begins with a JSONC comment.
func beginsComment(s string) bool { return strings.HasPrefix(s, "//") || strings.HasPrefix(s, "/*") }

// commentLength returns the length of the comment at the start of s, 0 if s does not begin with a complete comment.
func commentLength(s string) int {
	switch {
	case strings.HasPrefix(s, "//"):
		if end := strings.IndexByte(s, '\n'); end > 0 {
			return end
		}
		return len(s)
	case strings.HasPrefix(s, "/*"):
		if end := strings.Index(s[2:], "*/"); end >= 0 {
			return end + 4
		}
	}
	return 0
}

// peek returns the next byte, 0 at the end. No JSON token begins with a 0 byte.
func (p *jsonParser) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// fail returns a problem at the current position.
func (p *jsonParser) fail(message string) error {
	switch next := p.peek(); {
	case p.pos >= len(p.text):
		message += ", but the document ends"
	case p.comments && strings.HasPrefix(p.text[p.pos:], "/*"):
		message = "the comment has no end: */"
	case p.comments && next == '#':
		message += "; comments of JSON are // and /* */"
	case next == '#' || beginsComment(p.text[p.pos:]):
		message = "comments are not allowed in JSON; only the files of carillon apply may have them"
	case (next == '}' || next == ']') && strings.HasSuffix(strings.TrimRight(p.text[:p.pos], " \t\r\n"), ","):
		message += "; JSON has no comma before " + string(rune(next))
	}
	line, column := at(p.text, p.pos)
	return wrongText(line, column, message)
}

// within prefixes the path of an inner problem with the path of its parent.
func within(path string, err error) error {
	p := err.(Problem) //nolint:errorlint // the parsers return no other error
	p.Path = join(path, p.Path)
	return p
}

// nameSet detects duplicate names in an object. It compares the names of small objects, nearly all of them, one by one,
// and switches to a map before that becomes quadratic.
type nameSet struct {
	large map[string]bool
}

const smallObject = 16

// add reports whether name differs from the names of the earlier fields of its object.
func (s *nameSet) add(name string, earlier []Member) bool {
	if s.large == nil && len(earlier) < smallObject {
		for i := range earlier {
			if earlier[i].Name == name {
				return false
			}
		}
		return true
	}
	if s.large == nil {
		s.large = make(map[string]bool, 2*smallObject)
		for i := range earlier {
			s.large[earlier[i].Name] = true
		}
	}
	if s.large[name] {
		return false
	}
	s.large[name] = true
	return true
}
