package spec

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestStridesOfADay compares strides whose steps come back every day with the tiles that stand for them.
func TestStridesOfADay(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	said := map[int64]int{}
	for _, unit := range []int64{1, 60, 3600} {
		for step := int64(1); step*unit <= dayLength/2; step++ {
			times := times{random.Uint32() & allHours, random.Uint64() & allMinutes, random.Uint64() & allMinutes}
			s := newStride(unit, random.Int64N(1e6), step, tile{everyDate, times})
			tiles := s.daily()
			if tiles == nil {
				continue
			}
			said[unit]++
			if dayLength%(step*unit) != 0 {
				t.Fatalf("every %d units of %d s are not the same every day", step, unit)
			}
			for second := range int64(dayLength) {
				in := 0
				for _, tile := range tiles {
					if at, ok := tile.times.next(second); ok && at == second {
						in++
					}
				}
				if _, want := s.within(second, second); (in == 1) != want || in > 1 {
					t.Fatalf("every %d units of %d s: second %d is in %d tiles, but in the stride: %t", step, unit, second, in, want)
				}
			}
		}
	}
	if said[60] < 20 || said[1] < 40 || said[3600] != 0 {
		t.Errorf("said in tiles: %v", said)
	}
}

// TestExcludedForMonths takes months out of sets second by second of which a search would have to pass tens of thousands.
func TestExcludedForMonths(t *testing.T) {
	for _, test := range []struct {
		rules, next, last string // after New Year 2025, and before July
		july              int    // instances on its first day
	}{
		{"RRULE:FREQ=MINUTELY;INTERVAL=3 EXRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTH=1,2,3", "2025-04-01T00:00:00Z", "2025-06-30T23:57:00Z", 480},
		{"RRULE:FREQ=MINUTELY;INTERVAL=6 EXRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTH=1,2,3,4,5,6", "2025-07-01T00:00:00Z", "2024-12-31T23:54:00Z", 240},
		{"RRULE:FREQ=MINUTELY;INTERVAL=6 RRULE:FREQ=MINUTELY;INTERVAL=15 RRULE:FREQ=YEARLY RRULE:FREQ=DAILY;BYHOUR=5 " +
			"EXRULE:FREQ=SECONDLY;INTERVAL=90;BYMONTH=1,2,3,4", "2025-05-01T00:00:00Z", "2025-06-30T23:54:00Z", 288},
		{"RRULE:FREQ=SECONDLY;INTERVAL=48 EXRULE:FREQ=SECONDLY;INTERVAL=16;BYMONTH=1,2,3,4,5", "2025-06-01T00:00:00Z", "2025-06-30T23:59:12Z", 1800},
		{"RRULE:FREQ=MINUTELY;INTERVAL=90 EXRULE:FREQ=MINUTELY;INTERVAL=45;BYMONTH=1,2,3,4,5", "2025-06-01T00:00:00Z", "2025-06-30T22:30:00Z", 16},
	} {
		rule, err := ParseRRule("DTSTART:20240101T000000Z "+test.rules, RFC5545)
		if err != nil {
			t.Fatal(err)
		}
		s := compiled(t, rule, Setting{})
		july := time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
		next, _ := s.Next(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
		last, _ := s.Last(july.Add(-time.Second))
		got := fmt.Sprint(next.Format(time.RFC3339), " ", last.Format(time.RFC3339), " ", s.Count(july, july.AddDate(0, 0, 1).Add(-time.Second)))
		if want := fmt.Sprint(test.next, " ", test.last, " ", test.july); got != want {
			t.Errorf("%s:\n got %s\nwant %s", test.rules, got, want)
		}
	}
}

// TestExclusionOfManyTiles shows that an exclusion which many others stand beside is taken out as a whole.
func TestExclusionOfManyTiles(t *testing.T) {
	rule, err := ParseRRule("DTSTART:20280415T192530Z RRULE:FREQ=HOURLY;BYMONTHDAY=11,21;INTERVAL=97 "+
		"EXRULE:INTERVAL=24;FREQ=SECONDLY;BYMINUTE=24,57,45;BYDAY=MO,TU,FR,SA EXRULE:FREQ=HOURLY", RFC5545)
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := compiled(t, rule, Setting{}).Next(time.Time{}); ok {
		t.Errorf("fires at %s, want never", at)
	}
}

// TestRareDatesAreFew bounds what is kept of the days that a rule meets.
func TestRareDatesAreFew(t *testing.T) {
	firstOfMonth := newYearDays(1<<12-1, newMonthDays(func(int, int) uint32 { return 1 << 1 }))
	for n := int64(1); n < 2000; n += 7 {
		kept := 0
		for _, d := range everyNth(firstOfMonth, n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) {
			kept += cap(d.rare)
		}
		if kept > 4*fewDates {
			t.Fatalf("every %d days: %d days are kept", n, kept)
		}
	}
}
