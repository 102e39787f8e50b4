package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/calendar"
)

const threeMonths = `
        January 2026                  February 2026                    March 2026
 Mo  Tu  We  Th  Fr  Sa  Su     Mo  Tu  We  Th  Fr  Sa  Su     Mo  Tu  We  Th  Fr  Sa  Su
            [ 1]  2   3   4                              1                              1
  5   6   7   8   9  10  11      2   3   4   5   6   7   8      2   3   4   5   6   7   8
 12  13  14  15  16  17  18      9  10  11  12  13  14  15      9  10  11  12  13  14  15
 19  20  21  22  23  24  25     16  17  18  19  20  21  22     16  17  18  19  20  21  22
 26  27  28  29  30  31         23  24  25  26  27 [28]        23  24  25  26  27  28  29
                                                               30 [31]
`

func TestMonths(t *testing.T) {
	months := calendar.Months{
		Zone: time.UTC, Width: 90, Times: instants(t, "2026-01-01T00:00:00Z", "2026-02-28T12:00:00Z", "2026-02-28T13:00:00Z", "2026-03-31T23:59:59Z"),
	}
	lines, left := months.Lines()
	if diff := cmp.Diff(strings.TrimPrefix(threeMonths, "\n"), strings.Join(lines, "\n")+"\n"); diff != "" || left != 0 {
		t.Errorf("%d left, (-want +got):\n%s", left, diff)
	}
	for width, want := range map[int]int{0: 28, 58: 28, 59: 59, 89: 59, 90: 90, 300: 90} {
		months.Width = width
		lines, _ := months.Lines()
		longest := 0
		for _, line := range lines {
			longest = max(longest, utf8.RuneCountInString(line))
		}
		if longest > want || longest < want-5 {
			t.Errorf("width %d: a line of %d, want about %d", width, longest, want)
		}
	}
	months.Most = 2
	if _, left := months.Lines(); left != 1 {
		t.Errorf("%d left, want 1", left)
	}
}

// TestMonthsMarked marks days by emphasis: columns are narrower.
func TestMonthsMarked(t *testing.T) {
	months := calendar.Months{
		Zone: zone(t, "Asia/Tokyo"), Width: 80, Times: instants(t, "2026-05-31T15:00:00Z"), // 1 June there
		Mark: func(day string) string { return "\x1b[7m" + day + "\x1b[0m" },
	}
	lines, _ := months.Lines()
	want := []string{
		"     June 2026",
		"Mo Tu We Th Fr Sa Su",
		"\x1b[7m 1\x1b[0m  2  3  4  5  6  7",
		" 8  9 10 11 12 13 14",
		"15 16 17 18 19 20 21",
		"22 23 24 25 26 27 28",
		"29 30",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMonthsDays compares the columns of every day of forty years with package time.
func TestMonthsDays(t *testing.T) {
	for day := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2040; day = day.AddDate(0, 0, 1) {
		lines, _ := calendar.Months{Zone: time.UTC, Times: []time.Time{day}}.Lines()
		mark := fmt.Sprintf("[%2d]", day.Day())
		column := (int(day.Weekday()) + 6) % 7 * 4
		found := 0
		for _, line := range lines {
			if strings.Index(line, mark) == column {
				found++
			}
		}
		if found != 1 || strings.Count(strings.Join(lines, ""), "[") != 1 || !strings.Contains(lines[0], day.Format("January 2006")) {
			t.Fatalf("%s:\n%s", day.Format(time.DateOnly), strings.Join(lines, "\n"))
		}
	}
}
