package rrule

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// rruleText is a piece of a text that knows where it stood in the whole. at holds the column of every byte and of the
// place behind the last one, so it is longer than text by one.
type rruleText struct {
	text string
	at   []int
}

// column returns where the piece begins, in characters from 1.
func (t rruleText) column() int { return t.at[0] }

// upper returns the text in upper case.
func (t rruleText) upper() string { return strings.ToUpper(t.text) }

// cut returns the part from byte i to byte j.
func (t rruleText) cut(i, j int) rruleText { return rruleText{t.text[i:j], t.at[i : j+1]} }

// before and after return what stands on the two sides of byte i.
func (t rruleText) before(i int) rruleText { return t.cut(0, i) }
func (t rruleText) after(i int) rruleText  { return t.cut(i+1, len(t.text)) }

// split returns the pieces between separators; a piece may be empty. Separators within double quotes do not count.
func (t rruleText) split(separator byte) []rruleText {
	var pieces []rruleText
	for i := t.index(separator); i >= 0; i = t.index(separator) {
		pieces = append(pieces, t.before(i))
		t = t.after(i)
	}
	return append(pieces, t)
}

// index returns where c stands first outside double quotes, -1 if nowhere.
func (t rruleText) index(c byte) int {
	quoted := false
	for i := range len(t.text) {
		switch {
		case t.text[i] == '"':
			quoted = !quoted
		case t.text[i] == c && !quoted:
			return i
		}
	}
	return -1
}

// unfolded is a property in the lines that it was folded into.
type unfolded []rruleText

// begin returns what the property begins with, in upper case: enough to know it by.
func (u unfolded) begin() string {
	const enough = 32 // bytes
	var head []byte
	for _, line := range u {
		if head = append(head, line.text[:min(len(line.text), enough)]...); len(head) >= enough {
			break
		}
	}
	return strings.ToUpper(string(head))
}

// join puts the lines together.
func (u unfolded) join() rruleText {
	if len(u) == 1 {
		return u[0]
	}
	var text strings.Builder
	var at []int
	for i, line := range u {
		text.WriteString(line.text)
		if at = append(at, line.at...); i < len(u)-1 {
			at = at[:len(at)-1] // the place behind a line is where the next one begins
		}
	}
	return rruleText{text.String(), at}
}

// rrulePieces returns the properties of a text: what stands between blanks or line ends. With unfold, a line that
// begins with a blank continues the one before it (RFC 5545, section 3.1) unless a property begins there.
func rrulePieces(text string, unfold bool) []rruleText {
	var list []unfolded
	columns := columnsOf(text)
	newline, blank := false, false
	for begin := 0; begin < len(text); {
		r, size := utf8.DecodeRuneInString(text[begin:])
		if unicode.IsSpace(r) {
			newline = newline || r == '\n' || r == '\r'
			blank = r == ' ' || r == '\t'
			begin += size
			continue
		}
		end := begin + strings.IndexFunc(text[begin:], unicode.IsSpace)
		if end < begin {
			end = len(text)
		}
		piece := rruleText{text[begin:end], columns[begin : end+1]}
		if unfold && newline && blank && len(list) > 0 && !beginsProperty(piece.upper(), list[len(list)-1].begin()) {
			list[len(list)-1] = append(list[len(list)-1], piece)
		} else {
			list = append(list, unfolded{piece})
		}
		newline, blank = false, false
		begin = end
	}
	pieces := make([]rruleText, len(list))
	for i, lines := range list {
		pieces[i] = lines.join()
	}
	return pieces
}

// columnsOf returns the column of every byte of a text and of its end.
func columnsOf(text string) []int {
	columns := make([]int, len(text)+1)
	column := 0
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			column++
		}
		columns[i] = max(column, 1)
	}
	columns[len(text)] = column + 1
	return columns
}

// rruleProperties are the names that a property may have here, and those that are recognised to be refused.
var rruleProperties = []string{"DTSTART", "RRULE", "EXRULE", "RDATE", "EXDATE"}

// beginsProperty reports whether a piece on a line of its own is a property, not the rest of the one before.
func beginsProperty(piece, before string) bool {
	for _, name := range rruleProperties {
		if rest, ok := strings.CutPrefix(piece, name); ok && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ";")) {
			return true
		}
	}
	return strings.HasPrefix(piece, "FREQ=") && strings.HasPrefix(before, "DTSTART")
}
