package rrule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	rrulego "github.com/teambition/rrule-go"
	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// drawRule draws a rule that rrule-go reads as RFC 5545 does and for which it comes to an end: no weeks, no positions in
// weeks, no mixture of weekdays with and without numbers, no number twice, and no part that limits steps of less than a day.
func drawRule(t *rapid.T) (text string, freq rruleFreq) {
	freq = rruleFreq(rapid.IntRange(0, 6).Draw(t, "freq"))
	parts := []string{"FREQ=" + freq.String()}
	numbers := func(name string, lo, hi int, signed bool) {
		if !rapid.Bool().Draw(t, name+"?") {
			return
		}
		var words []string
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(lo, hi), 1, min(4, hi-lo+1), rapid.ID[int]).Draw(t, name) {
			if signed && rapid.Bool().Draw(t, "sign") {
				n = -n
			}
			words = append(words, strconv.Itoa(n))
		}
		parts = append(parts, name+"="+strings.Join(words, ","))
	}
	if interval := rapid.IntRange(1, 30).Draw(t, "interval"); interval > 1 {
		parts = append(parts, fmt.Sprintf("INTERVAL=%d", interval))
	}
	numbers("BYMONTH", 1, 12, false)
	if freq <= freqDaily {
		numbers("BYMONTHDAY", 1, 31, true)
		numbers("BYHOUR", 0, 23, false)
	}
	if rapid.Bool().Draw(t, "days?") {
		numbered := freq <= freqMonthly && rapid.Bool().Draw(t, "numbered")
		var words []string
		for _, day := range rapid.SliceOfN(rapid.SampledFrom(rruleDays), 1, 4).Draw(t, "days") {
			if numbered {
				day = strconv.Itoa(rapid.SampledFrom([]int{1, 2, 3, 4, 5, -1, -2, -5}).Draw(t, "nth")) + day
			}
			words = append(words, day)
		}
		parts = append(parts, "BYDAY="+strings.Join(words, ","))
	}
	if freq <= freqHourly {
		numbers("BYMINUTE", 0, 59, false)
	}
	if freq <= freqMinutely {
		numbers("BYSECOND", 0, 59, false)
	}
	switch { // a position that no hour has would make it walk to the year 9999
	case freq > freqDaily:
		numbers("BYSETPOS", 1, 1, true)
	case freq != freqWeekly:
		numbers("BYSETPOS", 1, 4, true)
	}
	if rapid.Bool().Draw(t, "wkst?") {
		parts = append(parts, "WKST="+rapid.SampledFrom(rruleDays).Draw(t, "wkst"))
	}
	return strings.Join(parts, ";"), freq
}

// TestRRuleAgainstRRuleGo compares with rrule-go in UTC.
func TestRRuleAgainstRRuleGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, freq := drawRule(t)
		start := time.Unix(rapid.Int64Range(850_000_000, 1_900_000_000).Draw(t, "start"), 0).UTC()
		until := start.AddDate(8, 0, 0)
		if freq > freqDaily {
			until = start.AddDate(0, 0, 500)
		}
		text += ";UNTIL=" + until.Format("20060102T150405Z")
		option, err := rrulego.StrToROption(text)
		if err != nil {
			t.Fatalf("%s: rrule-go: %v", text, err)
		}
		option.Dtstart = start
		theirs, err := rrulego.NewRRule(*option)
		if err != nil {
			t.Fatalf("%s: rrule-go: %v", text, err)
		}
		const most = 50
		var instances []time.Time
		next := theirs.Iterator()
		for at, ok := next(); ok && len(instances) < most; at, ok = next() {
			instances = append(instances, at)
		}
		set := rrulego.Set{}
		set.RRule(theirs)
		single := rapid.Custom(func(t *rapid.T) time.Time {
			if len(instances) > 0 && rapid.Bool().Draw(t, "instance") {
				return rapid.SampledFrom(instances).Draw(t, "at")
			}
			return start.Add(time.Duration(rapid.Int64Range(-1000, 100_000).Draw(t, "minutes")) * time.Minute)
		})
		texts := []string{text}
		for _, date := range []struct {
			name string
			add  func(time.Time)
		}{{"RDATE", set.RDate}, {"EXDATE", set.ExDate}} {
			for _, at := range rapid.SliceOfN(single, 0, 4).Draw(t, date.name) {
				date.add(at)
				texts = append(texts, date.name+":"+at.Format("20060102T150405Z"))
			}
		}
		text = strings.Join(texts, " ")
		var want []time.Time
		next = set.Iterator()
		for at, ok := next(); ok && len(want) < most; at, ok = next() {
			if len(want) == 0 || !at.Equal(want[len(want)-1]) { // it has an instant of two of its lists twice
				want = append(want, at)
			}
		}
		rule, err := Parse("DTSTART:"+start.Format("20060102T150405Z")+" RRULE:"+text, language.RFC5545)
		if err != nil {
			t.Fatal(err)
		}
		s, err := rule.Compile(language.Context{})
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Time
		for at, ok := s.Next(time.Time{}); ok && len(got) < most; at, ok = s.Next(at) {
			got = append(got, at)
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("from %v: %s\n got %v\nwant %v", start, text, got, want)
		}
		for i, at := range want {
			if last, ok := s.Last(at.Add(time.Second - 1)); !ok || !last.Equal(at) || s.Count(want[0], at) != i+1 {
				t.Fatalf("from %v: %s: last until %v: %v, %d instants", start, text, at, last, s.Count(want[0], at))
			}
		}
	})
}
