package cron

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// not reports a text that is not a value of the field, with the valid values.
func (f *fieldParser) not(w cronWord) {
	info := cronParts[f.part]
	f.wrong(w.column, fmt.Sprintf("%s is not %s; %s", f.quote(w), info.one, info.values), f.explain(w.text))
}

// quote returns a part of the field as it was given, in quotes.
func (f *fieldParser) quote(w cronWord) string {
	given := f.words[f.number-1]
	from := w.column - given.column
	return strconv.Quote(spelling.Short(given.text[from : from+len(w.text)]))
}

// foreign reports a character that no field has, such as a digit of another script, which looks right and is not.
func (f *fieldParser) foreign(w cronWord) bool {
	for i, r := range []rune(w.text) {
		if r < utf8.RuneSelf && r > ' ' {
			continue
		}
		hint := ""
		switch digit, ok := digitOf(r); {
		case ok:
			hint = fmt.Sprintf("write it with the ASCII digit %d", digit)
		case unicode.Is(unicode.Dash, r):
			hint = "write an ASCII hyphen, -"
		case strings.ContainsRune("∗＊×⁎", r):
			hint = "write an ASCII asterisk, *"
		case strings.ContainsRune("，、،", r):
			hint = "write an ASCII comma, ,"
		case unicode.IsLetter(r):
			hint = "names are the English ones, JAN-DEC and SUN-SAT"
		}
		f.wrong(w.column+i, fmt.Sprintf("found the character %q (%U); a field has ASCII characters only", r, r), hint)
		return true
	}
	return false
}

// digitOf returns the value of a decimal digit of any script.
func digitOf(r rune) (int, bool) {
	zero := r // the zero of its block, or of a block that ends where its own begins
	for unicode.Is(unicode.Nd, zero-1) {
		zero--
	}
	return int(r-zero) % 10, unicode.Is(unicode.Nd, r)
}

// outside returns the hint for a number out of range.
func (f *fieldParser) outside(n int) string {
	switch {
	case f.part == cronHour && n == 24:
		return "midnight is hour 0 of the day that it begins"
	case n == 60 && f.part == cronMinute:
		return "the last minute of an hour is 59; every full hour is 0 * * * *"
	case n == 60 && f.part == cronSecond:
		return "the last second of a minute is 59"
	case f.part == cronWeekday && n > 7:
		return "0 and 7 are Sunday, 6 is Saturday"
	case f.part == cronSecond && n >= 1970:
		return "dsari has no year; its sixth field is the second. The dialect obsidian has years"
	case f.part == cronYear && n < 100:
		return fmt.Sprintf("a year has four digits: %d", 2000+n)
	case f.part == cronMonth && n == 0:
		return "January is 1"
	case f.part == cronDay && n == 0:
		return "the first day is 1" + map[language.Dialect]string{language.Obsidian: ", the last day is L"}[f.dialect]
	}
	return ""
}

// forwards returns how to write a range that runs backwards: as two, joined by a comma.
func (f *fieldParser) forwards(from, to string) string {
	info := cronParts[f.part]
	if f.part == cronYear {
		return fmt.Sprintf("write %s-%s", to, from)
	}
	first, last := strconv.Itoa(info.lo), strconv.Itoa(info.hi)
	if _, number := digits(from); !number {
		first, last = info.names[0], info.names[len(info.names)-1]
	}
	if f.part == cronWeekday && last != "7" { // a week may be written up to SUN, which is its first day too
		first, last = "MON", "SUN"
	} else if f.part == cronWeekday {
		first = "1"
	}
	return fmt.Sprintf("to go over the end, write %s,%s", spanText(from, last), spanText(first, to))
}

// spanText writes a range.
func spanText(from, to string) string {
	if from == to {
		return from
	}
	return from + "-" + to
}

// explain returns the hint for a text that is not a value of the field.
func (f *fieldParser) explain(text string) string {
	switch {
	case text == "?":
		return "? is Quartz's way to say nothing; write *"
	case f.dialect == language.Obsidian && isDraw(text):
		return "H and R belong to the dialect dsari, where a job's name chooses the value; write a number here"
	case f.dialect == language.Dsari && isDraw(text[strings.LastIndexByte(text, '-')+1:]+"("):
		return "H and R must be alone in their field, without a list or a range: H, H(0-7), H/15"
	case f.dialect == language.Dsari && isSpecial(text):
		return "L, W and # belong to the dialect obsidian"
	case f.number == 6 && f.afterFields(text) != "":
		return f.afterFields(text)
	case strings.HasPrefix(text, "/"):
		return "a step needs a start: */" + strings.TrimPrefix(text, "/")
	case strings.HasPrefix(text, "*") && len(text) > 1:
		return "* must be alone or before a step: */5 is every fifth value"
	case strings.Count(text, "-") > 1 || strings.HasPrefix(text, "-") || strings.HasSuffix(text, "-"):
		return "a range has a start and an end, as in 1-5"
	case strings.ContainsAny(text, ".:"):
		return "write whole numbers; minute and hour are fields 1 and 2"
	}
	return f.misplaced(text)
}

// isSpecial reports whether a text is L, 15W, 5L or 5#2.
func isSpecial(text string) bool {
	return text == "L" || text == "W" || strings.Contains(text, "#") ||
		strings.HasSuffix(text, "L") && isWeekday(text[:len(text)-1]) ||
		strings.HasSuffix(text, "W") && isWeekday(text[:len(text)-1])
}

// misplaced returns the hint for a name that is written out, or that belongs to another field.
func (f *fieldParser) misplaced(text string) string {
	three := text[:min(3, len(text))]
	month, weekday := oneOf(three, cronMonths...), oneOf(three, cronWeekdays...)
	switch {
	case f.part == cronMonth && month, f.part == cronWeekday && weekday:
		return fmt.Sprintf("write %s; names have three letters", three)
	case month && f.part != cronMonth && allLetters(text):
		return fmt.Sprintf("%s is a month; months belong in field 4", three)
	case weekday && allLetters(text):
		return fmt.Sprintf("%s is a day of the week; days of the week belong in field 5", three)
	case isSpecial(text) && f.dialect == language.Obsidian:
		return "L and W belong in field 3 (day of month), L and # in field 5 (day of week)"
	case allLetters(text) && cronParts[f.part].names != nil:
		return spelling.DidYouMean(text, cronParts[f.part].names)
	}
	return ""
}

func allLetters(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// afterFields returns the hint for text in the position of the year.
func (f *fieldParser) afterFields(text string) string {
	given := f.words[5].text
	switch {
	case strings.HasPrefix(given, "/"), strings.HasPrefix(given, "./"):
		return "a crontab line's command is no part of the schedule"
	case allLetters(text) || strings.Contains(given, "/"):
		if _, err := tz.Load(given); err != nil {
			if given = tz.Suggest(given); given == "" {
				return ""
			}
		}
		if f.dialect == language.Dsari {
			return "dsari has no zone in its lines; the job's timeZone is the zone of its schedule"
		}
		return fmt.Sprintf("a time zone is field 7, after the year; for every year write %q",
			spelling.Short(textOf(f.words[:5]))+" * "+given)
	}
	return ""
}

// Hints returns valid parts of the expression that probably do not have the intended meaning: a step longer than its
// field, and six fields that look like a dialect with leading seconds.
func (c *Expression) Hints(language.Context, *instant.Schedule) []string {
	var doubts []string
	for _, p := range c.patterns {
		doubts = append(doubts, p.doubts...)
	}
	return doubts
}

// doubt records an item whose step reduces several values to the first.
func (f *fieldParser) doubt(item cronItem, text string) {
	if item.form == plainValues && item.stepped && item.lo < item.hi && item.step > item.hi-item.lo {
		f.doubts = append(f.doubts, fmt.Sprintf("%s: %s steps beyond %d, which leaves %d only",
			cronParts[f.part].name, spelling.Short(text), item.hi, item.lo))
	}
}

// secondsFirst returns a warning about a pattern of six fields that is also valid in a language whose first field is
// the second, such as Quartz and Spring; "" for none.
func (p *cronParser) secondsFirst(words []cronWord) string {
	first := words[0].text
	second := first == "0" || strings.HasPrefix(first, "*") || strings.HasPrefix(first, "0/")
	five := len(words) == 6 && words[5].text == "*"
	if !five || !second || textOf(words) == "* * * * * *" {
		return ""
	}
	sixth, instead, end := "the year", "this one has no seconds", ""
	if p.dialect == language.Dsari {
		sixth, instead, end = "the second, and * every one of a minute", "this one ends with it", " "+first
	}
	if first == "0" || end != "" {
		instead = fmt.Sprintf("write %q for that", textOf(words[1:5])+" *"+end)
	}
	return fmt.Sprintf("%q has six fields, and the sixth is %s; it looks like a language that begins with the second: %s",
		spelling.Short(textOf(words)), sixth, instead)
}
