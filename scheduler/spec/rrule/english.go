package rrule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/localtime"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/tz"
)

// Describe implements [language.Rule]. For a dsari rule, it describes the positions that are hashed from the job's
// name. By default, counts start from the start that the description names.
func (r *Set) Describe(s language.Context) string {
	compiled, err := r.Compile(s)
	if err != nil {
		compiled = nil
	}
	return r.DescribeCompiled(s, compiled)
}

// DescribeCompiled is Describe for a caller that has already compiled the rule. With a nil schedule, it does not check
// whether the rule ever fires.
func (r *Set) DescribeCompiled(s language.Context, compiled *instant.Schedule) string {
	set := r
	if r.dialect == language.Dsari {
		set = r.hashed(s.Name)
	}
	w := setWords{set, set.zone, int64(set.start)}
	if w.zone == nil {
		w.zone = s.Location()
	}
	if !set.hasStart && set.dialect != language.Dsari {
		u := s.Begin().Unix()
		w.begin = u + tz.Of(w.zone).At(u).Offset
	}
	phrases := w.each(set.rules)
	if len(set.added) > 0 {
		phrases = append(phrases, w.singleWords(set.added))
	}
	phrases = append([]string{strings.Join(phrases, "; and ")}, w.each(set.excluded)...)
	if len(set.dropped) > 0 {
		phrases = append(phrases, w.singleWords(set.dropped))
	}
	phrase := strings.Join(phrases, ", except ")
	if set.hasStart && len(set.rules) > 0 {
		phrase += ", from " + w.startWords() + " on"
	}
	if compiled != nil && !strings.HasPrefix(phrase, "never") {
		if _, ok := compiled.Next(time.Time{}); !ok {
			phrase += ", which never happens"
		}
	}
	return phrase + english.Zone(w.zone)
}

// setWords puts a set into words.
type setWords struct {
	*Set

	zone  *time.Location
	begin int64
}

// each describes rules.
func (w *setWords) each(rules []rrule) []string {
	phrases := make([]string, len(rules))
	for i := range rules {
		phrases[i] = w.rule(&rules[i])
	}
	return phrases
}

// rule describes one rule.
func (w *setWords) rule(r *rrule) string {
	begin := w.begin
	if r.hasAnchor {
		begin = int64(r.anchor)
	}
	rule := ruleWords{expander: expander{rrule: *r, begin: begin}, counted: !w.hasStart}
	rule.fill()
	phrase := rule.phrase()
	if r.count > 0 {
		phrase += ", " + english.Count(r.count, "time")
	}
	if r.until.given {
		phrase += ", until " + w.untilWords(&r.until)
	}
	return phrase
}

// startWords returns DTSTART, without its time if every rule has that one time.
func (w *setWords) startWords() string {
	for i := range w.rules {
		r := ruleWords{expander: expander{rrule: w.rules[i], begin: w.begin}}
		r.fill()
		if t := r.times(); r.freq > freqDaily || t.Size() != 1 || t.First() != calendar.Mod(w.begin, calendar.DayLength) {
			return english.Moment(w.begin)
		}
	}
	return english.Date(w.begin)
}

// untilWords returns UNTIL, with "UTC" behind it if that is not the set's zone.
func (w *setWords) untilWords(u *rruleUntil) string {
	words := english.Moment(int64(u.at))
	if u.utc && w.zone != time.UTC {
		words += " UTC"
	}
	return words
}

// ruleWords puts one rule, filled in, into words.
type ruleWords struct {
	expander

	counted bool // it must be said where intervals are counted from
}

// phrase describes when the rule fires, but for its ends.
func (r *ruleWords) phrase() string {
	clock, allDay := r.clock()
	days := r.days()
	phrase := clock + joint(days, allDay)
	if len(r.bySetPos) > 0 {
		phrase = r.positioned(clock, phrase)
	}
	if r.weekStart != time.Monday && (len(r.byWeekNo) > 0 || r.freq == freqWeekly && (r.interval > 1 || len(r.bySetPos) > 0)) {
		phrase += ", weeks beginning on " + r.weekStart.String()
	}
	if r.interval > 1 && r.counted && (r.freq <= freqDaily || r.drifts()) {
		phrase += ", counted from " + r.origin()
	}
	return phrase
}

const everyDayWords = "every day"

// joint returns the days as they follow the times. Times of the whole day need no "every day" behind them.
func joint(days string, allDay bool) string {
	rest, every := strings.CutPrefix(days, everyDayWords)
	switch {
	case allDay && every && (rest == "" || strings.HasPrefix(rest, " in ") || strings.HasPrefix(rest, " of ")):
		return rest
	case allDay && strings.HasPrefix(days, "every "):
		return " of " + days
	}
	return " " + days
}

// origin returns where an interval is counted from, as precisely as it matters.
func (r *ruleWords) origin() string {
	at := time.Unix(r.begin, 0).UTC()
	switch r.freq {
	case freqYearly:
		return at.Format("2006")
	case freqMonthly:
		return at.Format("January 2006")
	case freqWeekly:
		return "the week of " + english.Date(r.begin)
	case freqDaily:
		return english.Date(r.begin)
	default:
		return english.Moment(r.begin)
	}
}

// drifts reports whether the rule steps through the days without coming back to the same times.
func (r *ruleWords) drifts() bool { return r.freq > freqDaily && r.daily() == nil }

// daily returns the times of day that a frequency of less than a day visits, nil if they are not the same every day.
func (r *ruleWords) daily() *calendar.Times {
	anchor, _ := calendar.Divide(r.begin, r.freq.seconds())
	return localtime.Daily(r.freq.seconds(), anchor, int64(r.interval))
}

// clock describes the times of day. AllDay states that they are spread over the whole day.
func (r *ruleWords) clock() (phrase string, allDay bool) {
	t := r.times()
	if r.freq <= freqDaily {
		return english.Times(t)
	}
	if daily := r.daily(); daily != nil {
		t = t.And(daily)
		if t.Size() > 0 {
			return english.Times(t)
		}
	}
	return r.steps(), true
}

// steps describes a rule that steps on over midnight: "every 90 minutes, only in hours 09 to 17".
func (r *ruleWords) steps() string {
	unit := r.freq.unit()
	phrase := english.Every(r.interval, unit)
	if within := r.within(); within != "" {
		phrase = "at " + within + " of " + english.Each(r.interval, unit)
	}
	if len(r.byHour) > 0 {
		phrase += ", only in " + english.Numbers("hour", r.byHour, english.TwoDigits)
	}
	if r.freq >= freqMinutely && len(r.byMinute) > 0 {
		phrase += ", only at " + english.Numbers("minute", r.byMinute, strconv.Itoa)
	}
	if r.freq == freqSecondly && len(r.bySecond) > 0 {
		phrase += ", only at " + english.Numbers("second", r.bySecond, strconv.Itoa)
	}
	return phrase
}

// within describes the times in an hour or a minute, unless the only one is the start's.
func (r *ruleWords) within() string {
	start := []int{int(calendar.Mod(r.begin/60, 60)), int(calendar.Mod(r.begin, 60))}
	usualSecond, usualMinute := slices.Equal(r.bySecond, start[1:]), slices.Equal(r.byMinute, start[:1])
	if r.freq == freqSecondly || usualSecond && (r.freq == freqMinutely || usualMinute) {
		return ""
	}
	var words []string
	if r.freq == freqMinutely || len(r.bySecond) != 1 || r.bySecond[0] != 0 {
		words = append(words, english.Part("second", r.bySecond, strconv.Itoa, 60))
	}
	if r.freq == freqHourly {
		words = append(words, english.Part("minute", r.byMinute, strconv.Itoa, 60))
	}
	return strings.Join(words, " of ")
}

// positioned describes BYSETPOS: "at 09:00 on the last of Monday to Friday in every month" if the rule has one time a
// day and weekdays only, else all parts followed by the selection.
func (r *ruleWords) positioned(clock, phrase string) string {
	words := make([]string, 0, len(r.bySetPos))
	for _, n := range endsLast(r.bySetPos) {
		words = append(words, "the "+english.Ordinal(n))
	}
	positions := english.List(words, "and")
	t := r.times()
	simple := len(r.byDay) > 0 && !r.numbers() && len(r.byMonth)+len(r.byMonthDay)+len(r.byYearDay)+len(r.byWeekNo) == 0
	period := r.freq.unit()
	if simple && r.freq <= freqWeekly && t.Size() == 1 {
		days := english.Weekdays(r.weekdays())
		return fmt.Sprintf("%s on %s of %s in %s", clock, positions, days, english.Each(r.interval, period))
	}
	return fmt.Sprintf("%s, of these only %s in each %s", phrase, positions, period)
}

// numbers reports whether an item of BYDAY has a number that counts.
func (r *ruleWords) numbers() bool { return r.freq <= freqMonthly && r.numbered() }

// weekdays returns the weekdays of BYDAY that have no number, Monday at bit 0.
func (r *ruleWords) weekdays() uint64 {
	set := uint64(0)
	for _, d := range r.byDay {
		if d.n == 0 || r.freq > freqMonthly {
			set |= 1 << (uint(d.day+6) % 7)
		}
	}
	return set
}

// endsLast returns ascending numbers with the negative ones, which count from the end, behind the others.
func endsLast(values []int) []int {
	for i, n := range values {
		if n > 0 {
			return append(append([]int{}, values[i:]...), values[:i]...)
		}
	}
	return values
}
