package secrets

import "strings"

// layer is a text after some escapes were decoded.
type layer struct {
	text    string
	origins []int // where each byte came from in the first layer, and its end; nil: this is the first
}

// origin returns where the byte i of l, or its end, came from.
func (l layer) origin(i int) int {
	if l.origins == nil {
		return i
	}
	return l.origins[i]
}

// find adds the places of a text in l, as parts of the first layer.
func (l layer) find(found []match, text string) []match {
	for from := 0; ; {
		n := strings.Index(l.text[from:], text)
		if n < 0 {
			return found
		}
		from += n + len(text)
		found = append(found, match{l.origin(from - len(text)), l.origin(from)})
	}
}

// escaped reports whether [layer.decode] would change a text.
func escaped(text string) bool { return strings.ContainsAny(text, `\%&+`) }

// decode returns l with one layer of escapes decoded: those of JSON and of
// programming languages, of URLs, and of HTML. A plus becomes a space, as in
// forms, also one that stands for itself.
func (l layer) decode() layer {
	text, origins := make([]byte, 0, len(l.text)), make([]int, 0, len(l.text)+1)
	for i := 0; i < len(l.text); {
		before := len(text)
		var n int
		text, n = appendDecoded(text, l.text[i:])
		for range len(text) - before {
			origins = append(origins, l.origin(i))
		}
		i += n
	}
	return layer{string(text), append(origins, l.origin(len(l.text)))}
}
