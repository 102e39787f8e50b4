package plainjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// Reader reads one object. Each method reads the member of a name, if that is the next one: else what it is to fill stays
// as it is. [Reader.Done] says whether all was as a [Writer] writes it; what was filled is of no use if not.
type Reader struct {
	text  []byte
	pos   int
	first bool // no member of the object was read yet
	bad   bool
}

// NewReader begins to read an object.
func NewReader(text []byte) Reader {
	r := Reader{text: text, first: true}
	r.take('{')
	return r
}

// Done reports whether all of the object was read, and nothing follows it.
func (r *Reader) Done() bool {
	r.take('}')
	return !r.bad && r.pos == len(r.text)
}

// take moves behind a byte, which must be there.
func (r *Reader) take(c byte) {
	if r.bad || r.pos >= len(r.text) || r.text[r.pos] != c {
		r.bad = true
		return
	}
	r.pos++
}

// has moves behind the name of a member if it is the next one.
func (r *Reader) has(name string) bool {
	if r.bad {
		return false
	}
	rest := r.text[r.pos:]
	if !r.first {
		if len(rest) == 0 || rest[0] != ',' {
			return false
		}
		rest = rest[1:]
	}
	n := len(name)
	if len(rest) < n+3 || rest[0] != '"' || string(rest[1:n+1]) != name || rest[n+1] != '"' || rest[n+2] != ':' {
		return false
	}
	r.pos, r.first = len(r.text)-len(rest)+n+3, false
	return true
}

// Begin begins to read a member that is an object, if it is there.
func (r *Reader) Begin(name string) bool {
	if !r.has(name) {
		return false
	}
	r.take('{')
	r.first = true
	return !r.bad
}

// End ends the object that was begun last.
func (r *Reader) End() {
	r.take('}')
	r.first = false
}

// Raw reads an object as it is written.
func (r *Reader) Raw(name string, to *[]byte) {
	if !r.has(name) {
		return
	}
	start := r.pos
	for depth := 0; !r.bad && r.pos < len(r.text); {
		switch r.text[r.pos] {
		case '"':
			r.quoted()
			continue
		case '{':
			depth++
		case '}':
			depth--
		}
		r.pos++
		if depth == 0 {
			*to = bytes.Clone(r.text[start:r.pos])
			r.bad = r.bad || (*to)[0] != '{' || !json.Valid(*to)
			return
		}
	}
	r.bad = true
}

// Int reads a number.
func (r *Reader) Int(name string, to *int) {
	if r.has(name) {
		*to = int(r.integer())
	}
}

// Uint reads a number.
func (r *Reader) Uint(name string, to *uint64) {
	if r.has(name) {
		n, err := strconv.ParseUint(string(r.number()), 10, 64)
		*to, r.bad = n, r.bad || err != nil
	}
}

// Ints reads an array of numbers.
func (r *Reader) Ints(name string, to *[]int64) {
	if !r.has(name) {
		return
	}
	r.take('[')
	rest := r.text[r.pos:]
	end := bytes.IndexByte(rest, ']')
	if r.bad || end < 0 {
		r.bad = true
		return
	}
	numbers := make([]int64, 0, 1+bytes.Count(rest[:end], comma))
	for !r.bad && len(numbers) < cap(numbers) {
		if len(numbers) > 0 {
			r.take(',')
		}
		numbers = append(numbers, r.integer())
	}
	r.take(']')
	*to = numbers
}

var comma = []byte{','}

// integer reads a whole number.
func (r *Reader) integer() int64 {
	n, err := strconv.ParseInt(string(r.number()), 10, 64)
	r.bad = r.bad || err != nil
	return n
}

// Number reads a number and returns its text, which has no exponent; nil when it is not there.
func (r *Reader) Number(name string) []byte {
	if !r.has(name) {
		return nil
	}
	return r.number()
}

// number reads the text of a number.
func (r *Reader) number() []byte {
	start := r.pos
	if r.pos < len(r.text) && r.text[r.pos] == '-' {
		r.pos++
	}
	whole := r.digits()
	if whole == 0 || whole > 1 && r.text[r.pos-whole] == '0' {
		r.bad = true
	}
	if r.pos < len(r.text) && r.text[r.pos] == '.' {
		r.pos++
		r.bad = r.bad || r.digits() == 0
	}
	if r.bad {
		return nil
	}
	return r.text[start:r.pos] // with an exponent behind it, it is not what must follow a member
}

// digits moves behind decimal digits, and returns how many there are.
func (r *Reader) digits() int {
	n := 0
	for ; r.pos < len(r.text) && '0' <= r.text[r.pos] && r.text[r.pos] <= '9'; n++ {
		r.pos++
	}
	return n
}

// Refuse has Done report false: the caller does not take what it has read.
func (r *Reader) Refuse() { r.bad = true }

// True reads a truth.
func (r *Reader) True(name string, to *bool) {
	if !r.has(name) {
		return
	}
	if !bytes.HasPrefix(r.text[r.pos:], truth) {
		r.bad = true
		return
	}
	r.pos += len(truth)
	*to = true
}

var truth = []byte("true")

// Time reads an instant.
func (r *Reader) Time(name string, to *time.Time) {
	if !r.has(name) {
		return
	}
	text := r.quoted()
	r.bad = r.bad || to.UnmarshalText(text) != nil
}

// Text reads a string.
func (r *Reader) Text(name string, to *string) {
	if r.has(name) {
		r.unquote(r.quoted(), to)
	}
}

// unquote says what a string stands for.
func (r *Reader) unquote(quoted []byte, to *string) {
	text, ok := unquoted(quoted)
	*to, r.bad = text, r.bad || !ok
}

// Word reads a string that probably is one of words, and costs nothing then.
func (r *Reader) Word(name string, to *string, words ...string) {
	if !r.has(name) {
		return
	}
	text := r.quoted()
	for _, w := range words {
		if string(text) == w {
			*to = w
			return
		}
	}
	r.unquote(text, to)
}

// quoted reads a string as it is written, without the quotes.
func (r *Reader) quoted() []byte {
	r.take('"')
	for i := r.pos; i < len(r.text) && !r.bad; i++ {
		switch r.text[i] {
		case '"':
			text := r.text[r.pos:i]
			r.pos = i + 1
			return text
		case '\\':
			i++
		}
	}
	r.bad = true
	return nil
}
