package document

import (
	"bytes"
	"iter"
)

// Raw is JSON as [Value.JSON] writes it, which is not parsed: it is for who wants a few members of very many documents. Of
// what is not such JSON it says anything, but does not fail.
type Raw []byte

// Members returns the members of an object in document order, with their names as they are written, and nothing for any
// other kind.
func (r Raw) Members() iter.Seq2[[]byte, Raw] {
	return func(yield func([]byte, Raw) bool) {
		if len(r) == 0 || r[0] != '{' {
			return
		}
		for at := 1; at < len(r) && r[at] == '"'; at++ {
			colon := r.quoted(at)
			if colon >= len(r) || r[colon] != ':' {
				return
			}
			end := r.end(colon + 1)
			if !yield(r[at+1:colon-1], r[colon+1:end]) {
				return
			}
			at = end
		}
	}
}

// Member returns the member of that exact name, nil when there is none.
func (r Raw) Member(name string) Raw {
	for n, v := range r.Members() {
		if string(n) == name {
			return v
		}
	}
	return nil
}

// Plain returns the content of a string in which nothing is escaped, false for anything else.
func (r Raw) Plain() ([]byte, bool) {
	if len(r) < 2 || r[0] != '"' || r.quoted(0) != len(r) || bytes.IndexByte(r, '\\') >= 0 {
		return nil, false
	}
	return r[1 : len(r)-1], true
}

// quoted returns where the string ends that begins at a place: behind its quote.
func (r Raw) quoted(at int) int {
	for from := at + 1; ; {
		n := bytes.IndexByte(r[from:], '"')
		if n < 0 {
			return len(r)
		}
		quote := from + n
		escapes := quote
		for escapes > from && r[escapes-1] == '\\' {
			escapes--
		}
		if (quote-escapes)%2 == 0 {
			return quote + 1
		}
		from = quote + 1
	}
}

// end returns where the value ends that begins at a place.
func (r Raw) end(at int) int {
	for depth := 0; at < len(r); at++ {
		switch r[at] {
		case '"':
			at = r.quoted(at) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at
			}
			depth--
		case ',':
			if depth == 0 {
				return at
			}
		}
	}
	return len(r)
}
