package admin

import "bytes"

// overEscaped are the references that encoding/xml writes for characters which need none in the text of an element. There are
// clients, such as that for JavaScript, which take such references as they stand. A carriage return needs its own.
var overEscaped = []struct {
	reference []byte
	character byte
}{
	{[]byte("&#34;"), '"'},
	{[]byte("&#39;"), '\''},
	{[]byte("&#xA;"), '\n'},
	{[]byte("&#x9;"), '\t'},
}

// plainText writes these characters as such in the text of elements, as the service does. Attributes stay as they are. It changes
// document, which comes from encoding/xml: there is no ">" within its tags.
func plainText(document []byte) []byte {
	plain := document[:0]
	inTag := false
	for len(document) > 0 {
		c, n := document[0], 1
		switch {
		case c == '<':
			inTag = true
		case c == '>':
			inTag = false
		case c == '&' && !inTag:
			for _, e := range overEscaped {
				if bytes.HasPrefix(document, e.reference) {
					c, n = e.character, len(e.reference)
				}
			}
		}
		plain = append(plain, c)
		document = document[n:]
	}
	return plain
}
