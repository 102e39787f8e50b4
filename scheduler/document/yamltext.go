package document

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// YAML returns the value as a readable YAML document: fields in document order, one per line, multi-line texts as
// blocks. Parsing it returns the same value. It omits secrets.
func (v Value) YAML() []byte {
	w := yamlWriter{}
	switch {
	case v.kind == KindObject && w.shown(v) > 0:
		w.object(v, 0)
	case v.kind == KindArray && len(v.items) > 0: // a leading bracket would make it JSON
		w.array(v, 0)
	default:
		w.scalar(v, 0)
		w.WriteByte('\n')
	}
	return w.Bytes()
}

// yamlWriter writes values. Each value, except the root, starts at the cursor and ends with a line break.
type yamlWriter struct{ bytes.Buffer }

func (w *yamlWriter) indent(depth int) {
	for range depth {
		w.WriteString("  ")
	}
}

// shown returns the number of fields that are not secret.
func (w *yamlWriter) shown(v Value) int {
	n := 0
	for i := range v.members {
		if !v.members[i].Value.secret {
			n++
		}
	}
	return n
}

// object writes the fields, the first one at the cursor.
func (w *yamlWriter) object(v Value, depth int) {
	first := true
	for i := range v.members {
		m := &v.members[i]
		if m.Value.secret {
			continue
		}
		if !first {
			w.indent(depth)
		}
		first = false
		w.text(m.Name)
		w.WriteByte(':')
		w.below(m.Value, depth)
	}
}

// below writes the value of a field.
func (w *yamlWriter) below(v Value, depth int) {
	switch {
	case v.kind == KindObject && w.shown(v) > 0:
		w.WriteByte('\n')
		w.indent(depth + 1)
		w.object(v, depth+1)
	case v.kind == KindArray && !isFlow(v):
		w.WriteByte('\n')
		w.indent(depth + 1)
		w.array(v, depth+1)
	default:
		w.WriteByte(' ')
		w.scalar(v, depth)
		w.WriteByte('\n')
	}
}

// array writes the elements, the first one at the cursor.
func (w *yamlWriter) array(v Value, depth int) {
	for i, item := range v.items {
		if i > 0 {
			w.indent(depth)
		}
		w.WriteString("- ")
		switch {
		case item.kind == KindObject && w.shown(item) > 0:
			w.object(item, depth+1)
		case item.kind == KindArray && !isFlow(item):
			w.array(item, depth+1)
		default:
			w.scalar(item, depth)
			w.WriteByte('\n')
		}
	}
}

// scalar writes a value without children, or a text as a block.
func (w *yamlWriter) scalar(v Value, depth int) {
	switch v.kind {
	case KindString:
		if !v.secret && isBlock(v.text) {
			w.block(v.text, depth)
			return
		}
		if !v.secret {
			w.text(v.text)
			return
		}
		w.WriteString("null")
	case KindArray:
		w.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				w.WriteString(", ")
			}
			w.scalar(item, depth)
		}
		w.WriteByte(']')
	case KindObject:
		w.WriteString("{}")
	case KindNumber:
		w.WriteString(yamlNumber(v.text))
	default:
		w.Write(v.JSON())
	}
}

// yamlNumber adds a fraction to a number with an exponent or with more than 64 bits, because some parsers read it as
// text without one.
func yamlNumber(text string) string {
	if strings.Contains(text, ".") {
		return text
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i] + ".0" + text[i:]
	}
	if len(text) > maxDigits {
		return text + ".0"
	}
	return text
}

const maxDigits = 18

// text writes a string on one line.
func (w *yamlWriter) text(s string) {
	if isPlain(s) {
		w.WriteString(s)
		return
	}
	for _, r := range string(appendQuoted(nil, s)) {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) { // YAML forbids control characters, and bidi controls are invisible
			fmt.Fprintf(w, `\u%04x`, r)
			continue
		}
		w.WriteRune(r)
	}
}

// block writes a multi-line text unchanged.
func (w *yamlWriter) block(s string, depth int) {
	w.WriteByte('|')
	if !strings.HasSuffix(s, "\n") {
		w.WriteByte('-')
	}
	for line := range strings.Lines(s) {
		w.WriteByte('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			w.indent(depth + 1)
			w.WriteString(line)
		}
	}
}

// isFlow reports whether an array of numbers and words fits on a line.
func isFlow(v Value) bool {
	for _, item := range v.items {
		word := item.kind == KindString && !item.secret && isWord(item.text) && isPlain(item.text)
		if item.kind != KindNumber && !word {
			return false
		}
	}
	return true
}

// isWord reports whether a text consists of letters and digits.
func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// yamlWords are words that some version of YAML does not read as text.
var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// isPlain reports whether every YAML parser reads the unquoted text as text: it begins with a letter, / or $ and
// contains no YAML syntax.
func isPlain(s string) bool {
	if s == "" || strings.HasSuffix(s, " ") || strings.HasSuffix(s, ":") || strings.Contains(s, ": ") || strings.Contains(s, " #") ||
		slices.Contains(yamlWords, strings.ToLower(s)) {
		return false
	}
	if c := s[0]; c != '/' && c != '$' && (c|0x20 < 'a' || c|0x20 > 'z') {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == '`' || !unicode.IsPrint(r)
	})
}

// isBlock reports whether a text is one of several lines that a block keeps as they are.
func isBlock(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if strings.HasSuffix(line, " ") || strings.HasPrefix(line, "\t") ||
			strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
			return false
		}
	}
	return body[0] != ' ' && body[0] != '\n' // else the block would have to say how far it is indented
}
