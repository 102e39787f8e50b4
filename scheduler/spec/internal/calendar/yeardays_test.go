package calendar

import "testing"

// TestYearDays compares the shape of each year of a whole cycle of the calendar with the calendar itself.
func TestYearDays(t *testing.T) {
	days := NewYearDays(1<<1|1<<11, NewMonthDays(func(weekday, length int) uint32 {
		return 1<<length | 1<<29 | 1<<(1+weekday)
	}))
	has := func(day int64) bool {
		month, dayOfMonth := MonthOf(day)
		_, m := Divide(month, 12)
		first := WeekdayOf(FirstDay(month))
		return (m == 1 || m == 11) && (dayOfMonth == MonthLength(month) || dayOfMonth == 29 || dayOfMonth == 1+first)
	}
	n, last := int64(0), int64(-1)
	begin, end := FirstDay(1900*12), FirstDay(2300*12)
	for day := begin; day < end; day++ {
		if days.Has(day) != has(day) {
			t.Fatalf("day %d: %v", day, !has(day))
		}
		if has(day) {
			if next, ok := days.Next(last + 1); last >= 0 && (!ok || next != day) {
				t.Fatalf("next(%d) = %d, want %d", last+1, next, day)
			}
			if before, ok := days.Last(day - 1); last >= 0 && (!ok || before != last) {
				t.Fatalf("last(%d) = %d, want %d", day-1, before, last)
			}
			last = day
			n++
		}
	}
	if got := days.Count(begin, end-1); got != n {
		t.Errorf("count = %d, want %d", got, n)
	}
}

// TestWeekdaysAreShared checks that equal sets of weekdays are one set in memory.
func TestWeekdaysAreShared(t *testing.T) {
	for weekdays := range uint64(1 << 7) {
		days := NewYearDays(1<<12-1, NewMonthDays(func(first, length int) (set uint32) {
			for day := 1; day <= length; day++ {
				set |= uint32(weekdays>>((first+day-1)%7)&1) << day
			}
			return set
		}))
		if !days.Weekly() || days != DaysOfWeek(weekdays) {
			t.Errorf("weekdays %07b: a copy", weekdays)
		}
	}
	if EveryDay != DaysOfWeek(1<<7-1) {
		t.Error("all days: a copy")
	}
}

func TestYearOf(t *testing.T) {
	for year := int64(-5); year < 10_010; year++ {
		first := FirstDay(year * 12)
		for _, offset := range []int64{0, 58, 59, 60, 364} {
			if got, dayOfYear := YearOf(first + offset); got != year || dayOfYear != offset {
				t.Fatalf("day %d of %d: %d, %d", offset, year, got, dayOfYear)
			}
		}
	}
}
