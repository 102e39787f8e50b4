package load

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/forecast"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	return must.Get(time.LoadLocation(name))(t)
}

// TestHeatMap compares the cells with the minutes of the report, in zones of whole and half hours, and where clocks change.
func TestHeatMap(t *testing.T) {
	for _, test := range []struct {
		zone, from string
		hours      int
		rows       int
		first      string
		last       string
	}{
		{"UTC", "2026-03-28T00:00:00Z", 24, 24, "Sat 28 00:00", "Sat 28 23:00"},
		{"UTC", "2026-03-28T00:42:00Z", 24, 25, "Sat 28 00:00", "Sun 29 00:00"},
		{"Asia/Kolkata", "2026-03-28T00:00:00Z", 24, 25, "Sat 28 05:00", "Sun 29 05:00"},
		{"Asia/Kathmandu", "2026-03-28T00:00:00Z", 2, 3, "Sat 28 05:00", "Sat 28 07:00"},
		{"Europe/Berlin", "2026-03-28T23:00:00Z", 23, 23, "Sun 29 00:00 +01:00", "Sun 29 23:00 +02:00"},
		{"Europe/Berlin", "2026-10-24T22:00:00Z", 25, 25, "Sun 25 00:00 +02:00", "Sun 25 23:00 +01:00"},
		{"Australia/Lord_Howe", "2026-04-04T13:00:00Z", 25, 26, "Sun 05 00:00 +11:00", "Mon 06 00:00 +10:30"},
	} {
		from := must.Get(time.Parse(time.RFC3339, test.from))(t)
		r := &forecast.Report{From: from, To: from.Add(time.Duration(test.hours) * time.Hour)}
		for m := range test.hours * 60 {
			n := []int{0, 3, 3, 3, 17, 100, 0, 1, 1}[m%9] * (m % 7)
			r.PerMinute = append(r.PerMinute, n)
			r.Runs += n
			r.Peak = max(r.Peak, n)
		}
		m := newHeatMap(r, zone(t, test.zone))
		minute, runs := 0, 0
		for _, row := range m.Rows {
			sum, quarters := 0, 0
			for _, c := range row.Cells {
				for i := range c.Minutes {
					at := from.Add(time.Duration(minute) * time.Minute).In(zone(t, test.zone))
					if c.Runs != r.PerMinute[minute] || (c.X-labelWidth)/cellWidth+i != at.Minute() {
						t.Fatalf("%s: minute %d is %d in column %d", test.zone, minute, c.Runs, (c.X-labelWidth)/cellWidth+i)
					}
					minute++
				}
				sum += c.Runs * c.Minutes
				if (c.Level == 0) != (c.Runs == 0) || c.Level > levels || c.Runs == r.Peak && c.Level != levels {
					t.Errorf("%d of %d runs have the level %d", c.Runs, r.Peak, c.Level)
				}
				if !strings.Contains(c.Title, ":") {
					t.Errorf("the title is %q", c.Title)
				}
			}
			for _, q := range row.Quarter {
				quarters += q
			}
			if sum != row.Runs || quarters != row.Runs {
				t.Errorf("%s: the hour has %d runs, its cells %d and its quarters %d", row.Label, row.Runs, sum, quarters)
			}
			runs += row.Runs
		}
		first, last := m.Rows[0].Label, m.Rows[len(m.Rows)-1].Label
		if minute != test.hours*60 || runs != r.Runs || len(m.Rows) != test.rows || first != test.first || last != test.last {
			t.Errorf("%s: %d minutes, %d runs of %d, %d rows from %q to %q", test.zone, minute, runs, r.Runs, len(m.Rows), first, last)
		}
	}
}

// TestLegend has each number of runs in the one step that its level says.
func TestLegend(t *testing.T) {
	for _, peak := range []int{0, 1, 2, 3, 5, 36, 37, 100, 9999} {
		steps := legend(peak)
		for n := 1; n <= peak; n++ {
			found := false
			for _, s := range steps {
				from, to, both := strings.Cut(strings.ReplaceAll(s.Text, "\u202f", ""), "–")
				if !both {
					to = from
				}
				if n >= atoi(from) && n <= atoi(to) {
					found = true
					if s.Level != level(n, peak) {
						t.Fatalf("of %d, %d has the level %d, and stands in %q of level %d", peak, n, level(n, peak), s.Text, s.Level)
					}
				}
			}
			if !found {
				t.Fatalf("of %d, %d is in no step: %v", peak, n, steps)
			}
		}
	}
}

func atoi(s string) (n int) {
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}

// TestDays has days with and without changes of the clock: hours follow each other without a gap, from one midnight to the next.
func TestDays(t *testing.T) {
	for _, test := range []struct {
		zone, date string
		length     time.Duration
		hours      string // some of them
	}{
		{"UTC", "2026-03-29", 24 * time.Hour, "00:00 01:00 02:00 03:00"},
		{"Asia/Kolkata", "2026-03-29", 24 * time.Hour, "00:00 01:00 02:00 03:00"},
		{"Europe/Berlin", "2026-03-29", 23 * time.Hour, "00:00 +01:00 01:00 +01:00 03:00 +02:00"},
		{"Europe/Berlin", "2026-10-25", 25 * time.Hour, "01:00 +02:00 02:00 +02:00 02:00 +01:00 03:00 +01:00"},
		{"America/New_York", "2026-11-01", 25 * time.Hour, "01:00 -04:00 01:00 -05:00 02:00 -05:00"},
		{"Australia/Lord_Howe", "2026-04-05", 24*time.Hour + 30*time.Minute, "01:00 +11:00 01:30 +10:30 02:00 +10:30"},
		{"Australia/Lord_Howe", "2026-10-04", 23*time.Hour + 30*time.Minute, "01:00 +10:30 02:30 +11:00 03:00 +11:00"},
		{"America/Santiago", "2026-09-06", 23 * time.Hour, "01:00 02:00 03:00"}, // midnight is left out
		{"America/Sao_Paulo", "2018-11-04", 23 * time.Hour, "01:00 02:00 03:00"},
		{"Asia/Beirut", "2026-10-25", 24 * time.Hour, "00:00 01:00"},
		{"Pacific/Apia", "2011-12-31", 24 * time.Hour, "00:00 01:00"}, // the day before was left out
	} {
		noon := must.Get(time.ParseInLocation("2006-01-02 15", test.date+" 12", zone(t, test.zone)))(t)
		d := dayOf(noon)
		var labels strings.Builder
		for i := range len(d.At) - 1 {
			labels.WriteString(d.hourLabel(i) + " ")
			if !d.At[i].Before(d.At[i+1]) || d.At[i+1].Sub(d.At[i]) > time.Hour {
				t.Errorf("%s %s: the hour %s ends at %s", test.zone, test.date, d.At[i], d.At[i+1])
			}
			if d.At[i].Format(dateForm) != test.date {
				t.Errorf("%s %s has the hour %s", test.zone, test.date, d.At[i])
			}
		}
		end := d.At[len(d.At)-1]
		if length := end.Sub(d.At[0]); length != test.length || !strings.Contains(labels.String(), test.hours) || end.Format(dateForm) == test.date {
			t.Errorf("%s %s: %s to %s, %s: %s", test.zone, test.date, d.At[0], end, length, labels.String())
		}
	}
	w := weekOf(time.Date(2026, 3, 29, 12, 0, 0, 0, zone(t, "Europe/Berlin")))
	if at := w.instants(); len(at) != 168 || at[0].Format(dateForm) != "2026-03-23" || w.end().Sub(w.begin()) != 167*time.Hour {
		t.Errorf("the week has %d hours from %s to %s", len(at)-1, w.begin(), w.end())
	}
}
