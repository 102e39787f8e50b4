package rrule

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
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

// before and after return the text on the two sides of byte i.
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

// index returns the first position of c outside double quotes, -1 if absent.
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

// begin returns the start of the property in upper case, sufficient to identify it.
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

// rrulePieces returns the properties of a text, which blanks or line ends separate. With unfold, a line that begins
// with a blank continues the previous one (RFC 5545, section 3.1) unless a property begins there.
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

// rruleProperties are the names of supported properties, and of properties that are recognized and refused.
var rruleProperties = []string{"DTSTART", "RRULE", "EXRULE", "RDATE", "EXDATE"}

// beginsProperty reports whether a piece on a separate line is a property, not a continuation of the previous one.
func beginsProperty(piece, before string) bool {
	for _, name := range rruleProperties {
		if rest, ok := strings.CutPrefix(piece, name); ok && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, ";")) {
			return true
		}
	}
	return strings.HasPrefix(piece, "FREQ=") && strings.HasPrefix(before, "DTSTART")
}

// rruleTime is a DATE or a DATE-TIME of iCalendar.
type rruleTime struct {
	at   localTime
	utc  bool // it ended in Z
	date bool // it had no time
	// short reports that the time had no seconds, which only AWX accepts.
	short bool
}

// parseRRuleTime reads 20300115, 20300115T120000, 20300115T120000Z, and without seconds if short is allowed. The
// problem is empty if all is well.
func parseRRuleTime(text string, short bool) (t rruleTime, problem string) {
	rest := strings.ToUpper(text)
	if len(rest) > 8 {
		rest, t.utc = strings.CutSuffix(rest, "Z")
	}
	days, clock, timed := strings.Cut(rest, "T")
	t.date = !timed
	t.short = timed && len(clock) == 4
	wellTimed := !timed || len(clock) == 6 || t.short && short
	if len(days) != 8 || !wellTimed || t.date && t.utc || !spelling.OnlyDigits(days+clock) {
		return t, "is not a date such as 20300115 or a time such as 20300115T120000"
	}
	year, month, day := spelling.Number(days[:4]), spelling.Number(days[4:6]), spelling.Number(days[6:])
	var hour, minute, second int
	if timed {
		hour, minute = spelling.Number(clock[:2]), spelling.Number(clock[2:4])
		second = spelling.Number(clock[4:])
	}
	switch {
	case year == 0:
		return t, "has no year: years count from 0001"
	case month < 1 || month > 12:
		return t, fmt.Sprintf("has month %02d; months are 01-12", month)
	}
	first := int64(year*12 + month - 1)
	if length := calendar.MonthLength(first); day < 1 || int64(day) > length {
		return t, fmt.Sprintf("has day %02d; that month has 01-%d", day, length)
	}
	switch {
	case hour > 23:
		return t, fmt.Sprintf("has hour %02d; hours are 00-23", hour)
	case minute > 59:
		return t, fmt.Sprintf("has minute %02d; minutes are 00-59", minute)
	case second > 59:
		return t, fmt.Sprintf("has second %02d; seconds are 00-59", second)
	}
	t.at = localTime((calendar.FirstDay(first)+int64(day)-1)*calendar.DayLength + int64(hour*3600+minute*60+second))
	return t, ""
}

// rruleTimeHint suggests a fix for a text that parseRRuleTime rejected; "" if unknown.
func rruleTimeHint(text string) string {
	upper := strings.ToUpper(text)
	if i := strings.LastIndexAny(upper, "+-"); i > 8 && strings.Contains(upper, "T") && i > strings.Index(upper, "T") {
		return "an offset cannot be written: end UTC in Z, and name a zone with DTSTART;TZID=…"
	}
	if bare := strings.NewReplacer("-", "", ":", "").Replace(upper); bare != upper {
		if _, problem := parseRRuleTime(bare, false); problem == "" {
			return "write " + bare
		}
	}
	return ""
}
