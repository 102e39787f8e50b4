package cron

import "strings"

// special reads the items that only Obsidian's two fields of days have: L, 15W, 5L and 5#2. It reports whether the item
// is meant as one, and whether it is right.
func (f *fieldParser) special(w cronWord, listed bool) (item cronItem, special, ok bool) {
	if f.part == cronDay {
		return f.specialDay(w, listed)
	}
	return f.specialWeekday(w)
}

// specialDay reads L and 15W.
func (f *fieldParser) specialDay(w cronWord, listed bool) (item cronItem, special, ok bool) {
	day, found := strings.CutSuffix(w.text, "W")
	_, number := digits(day)
	switch {
	case len(strings.Trim(w.text, "0123456789-/#*")) > 2: // a name, such as JUL or WED
		return item, false, false
	case w.text == "L":
		return cronItem{form: lastOfMonth}, true, true
	case strings.Contains(w.text, "L") && strings.Contains(w.text, "W"):
		f.wrong(w.column, "LW is not a day of the month",
			"the last weekday of a month cannot be said here; an RRULE can: FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1")
	case strings.HasPrefix(w.text, "L-"):
		f.wrong(w.column, f.quote(w)+" is not a day of the month; L stands alone for the last day",
			"an RRULE counts days from the end: FREQ=MONTHLY;BYMONTHDAY=-3")
	case strings.HasPrefix(w.text, "L/"), strings.HasSuffix(w.text, "-L"):
		f.wrong(w.column, f.quote(w)+": L stands alone or in a list, not in a range or before a step",
			"it is the last day of the month: 15,L")
	case strings.HasSuffix(w.text, "L"):
		f.wrong(w.column, f.quote(w)+" is not a day of the month; L stands alone for the last day",
			"the last of a weekday stands in field 5 (day of week): 5L is the last Friday")
	case strings.Contains(w.text, "#"):
		f.wrong(w.column, f.quote(w)+" is not a day of the month",
			"# stands in field 5 (day of week): 5#2 is the second Friday")
	case w.text == "W":
		f.wrong(w.column, "W needs a day before it", "15W is the weekday nearest to the 15th")
	case listed && strings.Contains(w.text, "W"), !number && strings.Contains(w.text, "W"):
		f.wrong(w.column, f.quote(w)+": W goes with a single day, not with a list, a range or a step",
			"unite several patterns with semicolons")
	case found:
		item = cronItem{form: nearestWeekday}
		item.lo, ok = f.value(cronWord{day, w.column})
		return item, true, ok
	default:
		return item, false, false
	}
	return item, true, false
}

// specialWeekday reads 5L and 5#2, and FRIL and FRI#2, which are not on Obsidian's page and can mean nothing else.
func (f *fieldParser) specialWeekday(w cronWord) (item cronItem, special, ok bool) {
	weekday, nth, numbered := strings.Cut(w.text, "#")
	last, ended := strings.CutSuffix(w.text, "L")
	switch {
	case numbered && weekday == "":
		f.wrong(w.column, "# needs a day of the week before it", "5#2 is the second Friday of the month")
	case numbered:
		item.form = numberedWeekday
		if item.lo, ok = f.value(cronWord{weekday, w.column}); !ok {
			return item, true, false
		}
		if item.nth, ok = digits(nth); ok && item.nth >= 1 && item.nth <= 5 {
			return item, true, true
		}
		number := cronWord{nth, w.column + len(weekday) + 1}
		f.wrong(number.column, f.quote(number)+" after # is not in 1-5; a month has up to 5 of a weekday", "")
	case w.text == "L":
		f.wrong(w.column, "L needs a day of the week before it",
			"5L is the last Friday of the month; the last day of the month is L in field 3 (day of month); Saturday is 6 or SAT")
	case strings.HasSuffix(w.text, "W"):
		f.wrong(w.column, f.quote(w)+" is not a day of the week",
			"W stands in field 3 (day of month): 15W is the weekday nearest to the 15th")
	case ended && isWeekday(last):
		item.form = lastWeekday
		item.lo, ok = f.value(cronWord{last, w.column})
		return item, true, ok
	default:
		return item, false, false
	}
	return item, true, false
}

// isWeekday reports whether a text is a weekday's number, right or wrong, or its name.
func isWeekday(text string) bool {
	_, number := digits(text)
	return number || oneOf(text, cronWeekdays...)
}
