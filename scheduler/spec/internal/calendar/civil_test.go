package calendar

import (
	"testing"
	"time"
)

// Every day of the calendar, against package time.
func TestCivil(t *testing.T) {
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	n := day.Unix() / 86_400
	for ; day.Year() < 10_000; day, n = day.AddDate(0, 0, 1), n+1 {
		month, dayOfMonth := MonthOf(n)
		if month != int64(day.Year()*12+int(day.Month())-1) || dayOfMonth != int64(day.Day()) {
			t.Fatalf("monthOf(%d) = %d, %d for %v", n, month, dayOfMonth, day)
		}
		if WeekdayOf(n) != int64(day.Weekday()+6)%7 {
			t.Fatalf("weekdayOf(%d) = %d for %v", n, WeekdayOf(n), day)
		}
		if dayOfMonth > 1 {
			continue
		}
		if FirstDay(month) != n || FirstDay(month+1)-n != MonthLength(month) {
			t.Fatalf("month %d begins on day %d, has %d days, next begins on %d; want %v", month, FirstDay(month), MonthLength(month), FirstDay(month+1), day)
		}
	}
	if month, _ := MonthOf(n - 1); month != 9999*12+11 {
		t.Errorf("the last month is %d", month)
	}
}

func TestDivide(t *testing.T) {
	tests := []struct{ a, b, quotient, remainder, up int64 }{
		{7, 3, 2, 1, 3},
		{6, 3, 2, 0, 2},
		{0, 3, 0, 0, 0},
		{-1, 3, -1, 2, 0},
		{-3, 3, -1, 0, -1},
		{-7, 3, -3, 2, -2},
	}
	for _, test := range tests {
		q, r := Divide(test.a, test.b)
		if up := DivideUp(test.a, test.b); q != test.quotient || r != test.remainder || up != test.up {
			t.Errorf("%d / %d = %d rest %d, %d rounded up; want %+v", test.a, test.b, q, r, up, test)
		}
	}
}
