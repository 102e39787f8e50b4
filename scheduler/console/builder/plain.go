package builder

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/console/words"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// clock is a time of day.
type clock struct{ hour, minute int }

func (c clock) String() string { return fmt.Sprintf("%02d:%02d", c.hour, c.minute) }

// plainUnits are the units of the interval choice.
var plainUnits = []string{"second", "minute", "hour", "day", "week", "month"}

// maxTimes limits the times of day of a plain choice.
const maxTimes = 96

// plain returns the simplest recurrence for the plain choice.
func (r *reading) plain() *recurrence {
	if r.When() == choiceEvery {
		rec := &recurrence{Frequency: r.Or("plain.unit", "minute"), Interval: r.number("plain.n", r.Or("plain.n", "1"), 1)}
		if rec.Interval == 1 && r.text("was.interval") != "1" { // 1 is the default
			rec.Interval = 0
		}
		return rec
	}
	return &recurrence{Cron: cronOf(r.times(), r.days()), Dialect: r.was(spec.Obsidian)}
}

// days returns the last three fields of a cron pattern: the days of a choice.
func (r *reading) days() string {
	switch r.When() {
	case choiceWeekdays:
		return "* * MON-FRI"
	case choiceWeekly:
		return "* * " + r.weekly()
	case choiceMonthly:
		return r.monthly()
	case choiceYearly:
		month := slices.Index(months, r.Or("plain.month", "JAN")) + 1
		return fmt.Sprintf("%d %d *", r.day("plain.date"), max(month, 1))
	}
	return "* * *"
}

// weekly returns the weekdays.
func (r *reading) weekly() string {
	var chosen []int
	for i, day := range weekdays {
		if r.Has("plain.days", day) {
			chosen = append(chosen, i)
		}
	}
	if len(chosen) == 0 {
		r.wrong("plain.days", words.Say("builder.days.missing"))
		return "*"
	}
	if len(chosen) == len(weekdays) {
		return "*"
	}
	var spans []string
	for i := 0; i < len(chosen); {
		end := i
		for end+1 < len(chosen) && chosen[end+1] == chosen[end]+1 {
			end++
		}
		if end-i < 2 { // a range of two days becomes a list
			end = i
			spans = append(spans, weekdays[chosen[i]])
		} else {
			spans = append(spans, weekdays[chosen[i]]+"-"+weekdays[chosen[end]])
		}
		i = end + 1
	}
	return strings.Join(spans, ",")
}

// monthly returns the days of the month.
func (r *reading) monthly() string {
	switch r.Or("plain.on", "day") {
	case "last":
		return "L * *"
	case "weekday":
		day := r.Or("plain.weekday", "MON")
		if !slices.Contains(weekdays, day) {
			day = "MON"
		}
		nth := r.Or("plain.nth", "1")
		if nth == "last" {
			return "* * " + day + "L"
		}
		if len(nth) != 1 || nth < "1" || nth > "5" {
			nth = "1"
		}
		return "* * " + day + "#" + nth
	}
	return strconv.Itoa(r.day("plain.day")) + " * *"
}

// day parses the day of a month.
func (r *reading) day(field string) int {
	text := r.Or(field, "1")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 31 {
		r.wrong(field, words.Say("builder.day", document.Cut(text, maxQuoted)))
		return 1
	}
	return n
}

// timeOfDay matches a time of day: 9, 9:00, 09.00, 9h30, 9am, 5:30 pm.
var timeOfDay = regexp.MustCompile(`(?i)^(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?$`)

// times parses the times of day. It returns at least one.
func (r *reading) times() []clock {
	text := regexp.MustCompile(`(?i)\s+(am|pm)\b`).ReplaceAllString(r.text("plain.times"), "$1")
	var list []clock
	for _, one := range parts(text) {
		c, ok := readClock(one)
		if !ok {
			r.wrong("plain.times", words.Say("builder.time", document.Cut(one, maxQuoted)))
			return []clock{{}}
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b clock) int { return a.hour*60 + a.minute - b.hour*60 - b.minute })
	list = slices.Compact(list)
	switch {
	case len(list) == 0:
		r.wrong("plain.times", words.Say("builder.time.missing"))
		return []clock{{}}
	case len(list) > maxTimes:
		r.wrong("plain.times", words.Say("builder.times.many", maxTimes))
		return list[:maxTimes]
	}
	return list
}

func readClock(text string) (clock, bool) {
	m := timeOfDay.FindStringSubmatch(text)
	if m == nil {
		return clock{}, false
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	if half := strings.ToLower(m[3]); half != "" {
		if hour < 1 || hour > 12 {
			return clock{}, false
		}
		hour %= 12
		if half == "pm" {
			hour += 12
		}
	}
	return clock{hour, minute}, hour < 24 && minute < 60
}

// cronOf returns the cron pattern of times on days, one for all hours with the same minutes.
func cronOf(times []clock, days string) string {
	byMinute := map[string][]string{} // lists of hours by minutes
	var order []string
	for _, t := range times {
		minute := strconv.Itoa(t.minute)
		if byMinute[minute] == nil {
			order = append(order, minute)
		}
		byMinute[minute] = append(byMinute[minute], strconv.Itoa(t.hour))
	}
	var patterns []string
	for i := 0; i < len(order); i++ {
		minutes, hours := []string{order[i]}, strings.Join(byMinute[order[i]], ",")
		for j := i + 1; j < len(order); { // group hours with the same minutes
			if strings.Join(byMinute[order[j]], ",") != hours {
				j++
				continue
			}
			minutes = append(minutes, order[j])
			order = slices.Delete(order, j, j+1)
		}
		patterns = append(patterns, strings.Join(minutes, ",")+" "+hours+" "+days)
	}
	return strings.Join(patterns, "; ")
}
