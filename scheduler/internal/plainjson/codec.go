package plainjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Codec writes or reads the fields of one object. A type passes its fields once, in order, for both directions. To
// write, each method writes the field with its name. To read, it sets the field if its name is next, and else leaves it
// unchanged. [Codec.Done] reports whether the text has exactly the format that a Codec writes; if not, discard the
// fields. Field names are not escaped.
type Codec struct {
	text  []byte // written so far, or to be read
	same  string // as text, for [Codec.Share]
	reads bool
	err   error // while it was written

	pos   int
	first bool // no field of the object was read yet
	bad   bool
}

// NewWriter begins to write an object. size is about how many bytes it will take: with enough of them, there is one allocation.
func NewWriter(size int) Codec { return Codec{text: append(make([]byte, 0, size), '{')} }

// NewReader begins to read an object.
func NewReader(text []byte) Codec {
	c := Codec{text: text, reads: true, first: true}
	c.take('{')
	return c
}

// Share makes the strings that are read share the memory of text, which begins as the text that is read.
func (c *Codec) Share(text string) { c.same = text }

// Bytes ends the object and returns it. The error reports a time with a year outside 0-9999.
func (c *Codec) Bytes() ([]byte, error) { return append(c.text, '}'), c.err }

// Done reports whether all of the object was read, and nothing follows it.
func (c *Codec) Done() bool {
	c.take('}')
	return !c.bad && c.pos == len(c.text)
}

// Ended is Done for a text that lacks the object's closing brace.
func (c *Codec) Ended() bool { return !c.bad && c.pos == len(c.text) }

// Refuse makes Done return false: the caller rejects a value.
func (c *Codec) Refuse() { c.bad = true }

// Reads reports whether members are read, and not written.
func (c *Codec) Reads() bool { return c.reads }

// writes begins to write a field. It returns false if the codec reads.
func (c *Codec) writes(name string) bool {
	if c.reads {
		return false
	}
	if c.text[len(c.text)-1] != '{' {
		c.text = append(c.text, ',')
	}
	c.text = append(append(append(c.text, '"'), name...), '"', ':')
	return true
}

// Begin begins a field that is an object, and reports whether it is present. For writing, present states this.
func (c *Codec) Begin(name string, present bool) bool {
	if c.reads {
		if present = c.has(name); present {
			c.take('{')
			c.first = true
		}
		return present && !c.bad
	}
	if present {
		c.writes(name)
		c.text = append(c.text, '{')
	}
	return present
}

// End ends the object that was begun last.
func (c *Codec) End() {
	if !c.reads {
		c.text = append(c.text, '}')
		return
	}
	c.take('}')
	c.first = false
}

// Mark is where a member begins that is left out if it turns out to be empty.
type Mark int

// OptBegin is Begin of an object that OptEnd leaves out when it has no members.
func (c *Codec) OptBegin(name string) (at Mark, present bool) {
	return Mark(len(c.text)), c.Begin(name, true)
}

// OptEnd ends the object that OptBegin began at a place.
func (c *Codec) OptEnd(at Mark) {
	if !c.reads && c.text[len(c.text)-1] == '{' {
		c.text = c.text[:at]
		return
	}
	c.End()
}

// Int is a number.
func (c *Codec) Int(name string, n *int) {
	if c.writes(name) {
		c.text = strconv.AppendInt(c.text, int64(*n), 10)
	} else if c.has(name) {
		*n = int(c.integer())
	}
}

// OptInt is a number that is left out if it is 0.
func (c *Codec) OptInt(name string, n *int) {
	if c.reads || *n != 0 {
		c.Int(name, n)
	}
}

// Uint is a number.
func (c *Codec) Uint(name string, n *uint64) {
	if c.writes(name) {
		c.text = strconv.AppendUint(c.text, *n, 10)
	} else if c.has(name) {
		read, err := strconv.ParseUint(string(c.number()), 10, 64)
		*n, c.bad = read, c.bad || err != nil
	}
}

// OptUint is a number that is left out if it is 0.
func (c *Codec) OptUint(name string, n *uint64) {
	if c.reads || *n != 0 {
		c.Uint(name, n)
	}
}

// OptInts is an array of numbers that is left out if it is empty.
func (c *Codec) OptInts(name string, numbers *[]int64) {
	if c.reads {
		if c.has(name) {
			*numbers = c.integers()
		}
		return
	}
	if len(*numbers) == 0 {
		return
	}
	c.writes(name)
	separator := byte('[')
	for _, n := range *numbers {
		c.text = strconv.AppendInt(append(c.text, separator), n, 10)
		separator = ','
	}
	c.text = append(c.text, ']')
}

// Number writes a number that is JSON already.
func (c *Codec) Number(name string, text []byte) {
	c.writes(name)
	c.text = append(c.text, text...)
}

// Rare is a field with an object or an array, which encoding/json writes and reads. For writing, present reports whether
// the object has the field.
func Rare[T any](c *Codec, name string, v *T, present bool) {
	switch {
	case c.reads && c.has(name):
		var text []byte
		c.value(&text)
		c.bad = c.bad || json.Unmarshal(text, v) != nil
	case !c.reads && present:
		text, err := json.Marshal(v)
		if err != nil {
			c.err = fmt.Errorf("%s: %w", name, err)
		}
		c.Number(name, text)
	}
}

// ReadNumber returns the text of a number, which has no exponent; nil when it is not there.
func (c *Codec) ReadNumber(name string) []byte {
	if !c.has(name) {
		return nil
	}
	return c.number()
}

// OptRaw is an object that is JSON already, and left out if it is empty.
func (c *Codec) OptRaw(name string, text *[]byte) {
	if c.reads {
		if c.has(name) {
			c.value(text)
			c.bad = c.bad || (*text)[0] != '{' || !json.Valid(*text)
		}
	} else if len(*text) > 0 {
		c.Number(name, *text)
	}
}

// OptTrue is a truth that is left out if it is none.
func (c *Codec) OptTrue(name string, is *bool) {
	switch {
	case !c.reads && !*is:
	case c.writes(name):
		c.text = append(c.text, truth...)
	case c.has(name):
		if *is = bytes.HasPrefix(c.text[c.pos:], truth); *is {
			c.pos += len(truth)
		}
		c.bad = c.bad || !*is
	}
}

var truth = []byte("true")

// Time is an instant, to the nanosecond.
func (c *Codec) Time(name string, t *time.Time) {
	switch {
	case c.writes(name):
		c.text = append(c.text, '"')
		text, err := t.AppendText(c.text)
		if err != nil {
			c.err = fmt.Errorf("%s: %w", name, err)
			return
		}
		c.text = text
		c.text = append(c.text, '"')
	case c.has(name):
		text := c.quoted()
		c.bad = c.bad || t.UnmarshalText(text) != nil
	}
}

// OptTime is an instant that is left out if it is zero.
func (c *Codec) OptTime(name string, t *time.Time) {
	if c.reads || !t.IsZero() {
		c.Time(name, t)
	}
}

// Text is a string.
func (c *Codec) Text(name string, s *string) {
	if c.writes(name) {
		c.text = appendText(c.text, *s)
	} else if c.has(name) {
		c.unquote(c.quoted(), s)
	}
}

// OptText is a string that is left out if it is empty.
func (c *Codec) OptText(name string, s *string) {
	if c.reads || *s != "" {
		c.Text(name, s)
	}
}

// OptWord is OptText of what probably is one of words, which costs nothing to read then.
func (c *Codec) OptWord(name string, s *string, words ...string) {
	if !c.reads {
		c.OptText(name, s)
		return
	}
	if !c.has(name) {
		return
	}
	text := c.quoted()
	for _, w := range words {
		if string(text) == w {
			*s = w
			return
		}
	}
	c.unquote(text, s)
}

// take moves behind a byte, which must be there.
func (c *Codec) take(b byte) {
	if c.bad || c.pos >= len(c.text) || c.text[c.pos] != b {
		c.bad = true
		return
	}
	c.pos++
}

// has moves behind the name of a member if it is the next one.
func (c *Codec) has(name string) bool {
	if c.bad {
		return false
	}
	rest := c.text[c.pos:]
	if !c.first {
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
	n := len(name)
	if len(rest) < n+3 || rest[0] != '"' || string(rest[1:n+1]) != name || rest[n+1] != '"' || rest[n+2] != ':' {
		return false
	}
	c.pos, c.first = len(c.text)-len(rest)+n+3, false
	return true
}

// value reads the text of an object or an array.
func (c *Codec) value(to *[]byte) {
	start := c.pos
	for depth := 0; !c.bad && c.pos < len(c.text); {
		switch c.text[c.pos] {
		case '"':
			c.quoted()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.pos++
		if depth == 0 {
			*to = bytes.Clone(c.text[start:c.pos])
			return
		}
	}
	c.bad = true
}

// integers reads an array of whole numbers.
func (c *Codec) integers() []int64 {
	c.take('[')
	rest := c.text[c.pos:]
	end := bytes.IndexByte(rest, ']')
	if c.bad || end < 0 {
		c.bad = true
		return nil
	}
	numbers := make([]int64, 0, 1+bytes.Count(rest[:end], comma))
	for !c.bad && len(numbers) < cap(numbers) {
		if len(numbers) > 0 {
			c.take(',')
		}
		numbers = append(numbers, c.integer())
	}
	c.take(']')
	return numbers
}

var comma = []byte{','}

// integer reads a whole number.
func (c *Codec) integer() int64 {
	n, err := strconv.ParseInt(string(c.number()), 10, 64)
	c.bad = c.bad || err != nil
	return n
}

// number reads the text of a number.
func (c *Codec) number() []byte {
	start := c.pos
	if c.pos < len(c.text) && c.text[c.pos] == '-' {
		c.pos++
	}
	whole := c.digits()
	if whole == 0 || whole > 1 && c.text[c.pos-whole] == '0' {
		c.bad = true
	}
	if c.pos < len(c.text) && c.text[c.pos] == '.' {
		c.pos++
		c.bad = c.bad || c.digits() == 0
	}
	if c.bad {
		return nil
	}
	return c.text[start:c.pos] // with an exponent behind it, it is not what must follow a member
}

// digits moves behind decimal digits, and returns how many there are.
func (c *Codec) digits() int {
	n := 0
	for ; c.pos < len(c.text) && '0' <= c.text[c.pos] && c.text[c.pos] <= '9'; n++ {
		c.pos++
	}
	return n
}

// unquote decodes a quoted text, which was read last.
func (c *Codec) unquote(quoted []byte, to *string) {
	if c.same != "" && !c.bad && reach(quoted) == len(quoted) {
		*to = c.same[c.pos-1-len(quoted) : c.pos-1]
		return
	}
	text, ok := unquoted(quoted)
	*to, c.bad = text, c.bad || !ok
}

// quoted reads a string as it is written, without the quotes.
func (c *Codec) quoted() []byte {
	c.take('"')
	for i := c.pos; i < len(c.text) && !c.bad; i++ {
		switch c.text[i] {
		case '"':
			text := c.text[c.pos:i]
			c.pos = i + 1
			return text
		case '\\':
			i++
		}
	}
	c.bad = true
	return nil
}
