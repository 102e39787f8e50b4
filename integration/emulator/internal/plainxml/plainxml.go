// Package plainxml encodes XML as the emulated services do.
package plainxml

import (
	"bytes"
	"encoding/xml"
)

// Marshal is [xml.Marshal] with fewer references in element text.
func Marshal(document any) ([]byte, error) {
	encoded, err := xml.Marshal(document)
	return plain(encoded), err
}

// overEscaped are references that encoding/xml writes for characters that element text may contain unescaped. Some
// clients, such as JavaScript's, do not decode them. A carriage return must stay escaped.
var overEscaped = []struct {
	reference []byte
	character byte
}{
	{[]byte("&#34;"), '"'},
	{[]byte("&#39;"), '\''},
	{[]byte("&#xA;"), '\n'},
	{[]byte("&#x9;"), '\t'},
}

// plain writes these characters unescaped in element text, as the service does. Attributes are unchanged. It
// changes document, which encoding/xml has written: its tags contain no ">".
func plain(document []byte) []byte {
	text := document[:0]
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
		text = append(text, c)
		document = document[n:]
	}
	return text
}
