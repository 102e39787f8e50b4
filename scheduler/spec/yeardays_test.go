package spec

import "testing"

// TestYearDays compares the shape of each year of a whole cycle of the calendar with the calendar itself.
func TestYearDays(t *testing.T) {
	days := newYearDays(1<<1|1<<11, newMonthDays(func(weekday, length int) uint32 {
		return 1<<length | 1<<29 | 1<<(1+weekday)
	}))
	has := func(day int64) bool {
		month, dayOfMonth := monthOf(day)
		_, m := divide(month, 12)
		first := weekdayOf(firstDay(month))
		return (m == 1 || m == 11) && (dayOfMonth == monthLength(month) || dayOfMonth == 29 || dayOfMonth == 1+first)
	}
	n, last := int64(0), int64(-1)
	begin, end := firstDay(1900*12), firstDay(2300*12)
	for day := begin; day < end; day++ {
		if days.has(day) != has(day) {
			t.Fatalf("day %d: %v", day, !has(day))
		}
		if has(day) {
			if next, ok := days.next(last + 1); last >= 0 && (!ok || next != day) {
				t.Fatalf("next(%d) = %d, want %d", last+1, next, day)
			}
			if before, ok := days.last(day - 1); last >= 0 && (!ok || before != last) {
				t.Fatalf("last(%d) = %d, want %d", day-1, before, last)
			}
			last = day
			n++
		}
	}
	if got := days.count(begin, end-1); got != n {
		t.Errorf("count = %d, want %d", got, n)
	}
}

func TestYearOf(t *testing.T) {
	for year := int64(-5); year < 10_010; year++ {
		first := firstDay(year * 12)
		for _, offset := range []int64{0, 58, 59, 60, 364} {
			if got, dayOfYear := yearOf(first + offset); got != year || dayOfYear != offset {
				t.Fatalf("day %d of %d: %d, %d", offset, year, got, dayOfYear)
			}
		}
	}
}
