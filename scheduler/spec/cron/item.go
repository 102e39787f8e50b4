package cron

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// fieldParser reads one field of a pattern.
type fieldParser struct {
	*cronParser

	part   cronPart
	number int
	words  []cronWord // the whole pattern, for hints
}

// wrong reports a problem of the field.
func (f *fieldParser) wrong(column int, message, hint string) {
	f.problem(column, fmt.Sprintf("field %d (%s)", f.number, cronParts[f.part].name), message, hint)
}

// field reads a list of items.
func (f *fieldParser) field(word cronWord) cronField {
	if f.foreign(word) {
		return nil
	}
	word.text = strings.ToUpper(word.text)
	if f.dialect == language.Dsari && isDraw(word.text) {
		return f.drawn(word)
	}
	var field cronField
	column := word.column
	parts := strings.Split(word.text, ",")
	for _, text := range parts {
		before := len(f.problems)
		item, ok := f.item(cronWord{text, column}, len(parts) > 1)
		if !ok && len(f.problems) == before {
			f.not(cronWord{text, column})
		}
		if len(f.problems) > maxCronProblems {
			return nil
		}
		f.doubt(item, text)
		field = append(field, item)
		column += len(text) + 1
	}
	return field
}

// item reads one element of a list. If it returns false and reports no problem, the whole element is invalid.
func (f *fieldParser) item(w cronWord, listed bool) (cronItem, bool) {
	if w.text == "" {
		f.wrong(w.column, "an element of the list is empty", "separate elements by commas, without spaces")
		return cronItem{}, false
	}
	if f.dialect == language.Obsidian && (f.part == cronDay || f.part == cronWeekday) {
		if item, special, ok := f.special(w, listed); special {
			return item, ok
		}
	}
	text, step, stepped := strings.Cut(w.text, "/")
	if _, number := digits(text); !number && stepped && allLetters(text) && !oneOf(text, cronParts[f.part].names...) {
		return cronItem{}, false
	}
	item, ok := f.span(cronWord{text, w.column}, stepped)
	if ok && stepped {
		item.stepped = true
		item.step, ok = f.step(cronWord{step, w.column + len(text) + 1})
	}
	return item, ok
}

// span reads "*", a value or a range.
func (f *fieldParser) span(w cronWord, stepped bool) (cronItem, bool) {
	info := cronParts[f.part]
	if w.text == "*" {
		return cronItem{star: true, lo: info.lo, hi: f.part.most(), step: 1}, true
	}
	from, to, ranged := strings.Cut(w.text, "-")
	if from == "" || ranged && to == "" || strings.ContainsAny(to, "-()") || strings.ContainsAny(from, "*()") {
		return cronItem{}, false
	}
	lo, ok := f.value(cronWord{from, w.column})
	if !ok {
		return cronItem{}, false
	}
	switch {
	case !ranged && stepped: // Obsidian: the value before the slash is the start, and days of the week are 0-7
		hi := f.part.most()
		if f.dialect == language.Obsidian {
			hi = info.hi
		}
		return cronItem{lo: lo, hi: max(lo, hi), step: 1}, true
	case !ranged:
		return cronItem{lo: lo, hi: lo, step: 1}, true
	}
	hi, ok := f.value(cronWord{to, w.column + len(from) + 1})
	if ok && f.part == cronWeekday && hi == 0 && lo > 0 {
		hi = 7 // FRI-SUN
	}
	if ok && hi < lo {
		f.wrong(w.column, fmt.Sprintf("the range %s runs backwards", f.quote(w)), f.forwards(from, to))
		return cronItem{}, false
	}
	return cronItem{lo: lo, hi: hi, step: 1}, ok
}

// value reads a number or a name.
func (f *fieldParser) value(w cronWord) (int, bool) {
	info := cronParts[f.part]
	for i, name := range info.names {
		if name == w.text {
			return info.lo + i, true
		}
	}
	n, ok := digits(w.text)
	if !ok {
		f.not(w)
		return 0, false
	}
	if n < info.lo || n > info.hi {
		f.wrong(w.column, fmt.Sprintf("%s is not in %d-%d", spelling.Short(w.text), info.lo, info.hi), f.outside(n))
		return 0, false
	}
	return n, true
}

// maxStep is the largest step. A step that exceeds its field yields only the first value.
const maxStep = 999_999_999

// step reads the number after a slash.
func (f *fieldParser) step(w cronWord) (int, bool) {
	n, ok := digits(w.text)
	switch {
	case w.text == "":
		f.wrong(w.column, "the step after \"/\" is missing", "*/5 is every fifth value, from the first")
	case !ok:
		f.wrong(w.column, fmt.Sprintf("the step %s is not a whole number", f.quote(w)), "")
	case n == 0:
		f.wrong(w.column, "the step is 0; a step is at least 1", "")
	case n > maxStep:
		f.wrong(w.column, fmt.Sprintf("the step %s is too large", spelling.Short(w.text)), "")
	default:
		return n, true
	}
	return 0, false
}

// digits parses ASCII digits. A number above the limit is returned as maxStep+1.
func digits(text string) (int, bool) {
	n, small := spelling.SmallNumber(text)
	if !small {
		n = maxStep + 1
	}
	return n, small || spelling.OnlyDigits(text)
}

// isDraw reports whether a field looks like dsari's H or R.
func isDraw(text string) bool {
	return (text[0] == 'H' || text[0] == 'R') && (len(text) == 1 || strings.IndexByte("(/,-", text[1]) >= 0)
}

// drawn reads H, H(a-b), H/n and H(a-b)/n, and the same with R, as dsari has them.
func (f *fieldParser) drawn(w cronWord) cronField {
	info := cronParts[f.part]
	item := cronItem{form: hashedValue, lo: info.lo, hi: f.part.most()}
	if w.text[0] == 'R' {
		item.form, item.draw = randomValue, language.Hash(rand.Uint32()) //nolint:gosec // spreads load; not cryptographic
	}
	rest, column := w.text[1:], w.column+1
	if inner, after, closed := strings.Cut(rest, ")"); closed && strings.HasPrefix(inner, "(") {
		var ok bool
		if item.lo, item.hi, ok = f.drawRange(cronWord{inner[1:], column + 1}); !ok {
			return nil
		}
		rest, column = after, column+len(inner)+1
	}
	if step, ok := strings.CutPrefix(rest, "/"); ok {
		if item.step, ok = f.step(cronWord{step, column + 1}); !ok {
			return nil
		}
		rest = ""
	}
	if rest != "" {
		f.wrong(column, fmt.Sprintf("%s after %c", f.quote(cronWord{rest, column}), w.text[0]), fmt.Sprintf(
			"%[1]c must be alone in its field: %[1]c, %[1]c(0-7), %[1]c/15 or %[1]c(30-59)/10", w.text[0],
		))
		return nil
	}
	return cronField{item}
}

// drawRange reads the a-b of H(a-b).
func (f *fieldParser) drawRange(w cronWord) (lo, hi int, ok bool) {
	from, to, _ := strings.Cut(w.text, "-")
	_, okLow := digits(from)
	_, okHigh := digits(to)
	if !okLow || !okHigh {
		f.wrong(w.column, f.quote(w)+" is not a range of two numbers", "for example H(0-7)")
		return 0, 0, false
	}
	if lo, ok = f.value(cronWord{from, w.column}); !ok {
		return 0, 0, false
	}
	if hi, ok = f.value(cronWord{to, w.column + len(from) + 1}); !ok {
		return 0, 0, false
	}
	if hi <= lo {
		f.wrong(w.column, fmt.Sprintf("the range %s has nothing to choose from; its end must be greater than its start", w.text), "")
		return 0, 0, false
	}
	return lo, hi, true
}
