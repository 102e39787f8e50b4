package calendar_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // hosts differ

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/cmd/carillon/calendar"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	return must.Get(time.LoadLocation(name))(t)
}

// instants reads instants.
func instants(t *testing.T, texts ...string) []time.Time {
	t.Helper()
	times := make([]time.Time, len(texts))
	for i, text := range texts {
		at := must.Get(time.Parse(time.RFC3339Nano, text))(t)
		times[i] = at
	}
	return times
}

func plain(text string) string { return text }

func TestTable(t *testing.T) {
	table := calendar.Table{
		Zone:  zone(t, "America/New_York"),
		Times: instants(t, "2026-03-07T07:30:00Z", "2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"),
		Moved: func(at time.Time) bool { return at.Minute() == 0 },
	}
	want := []string{
		"LOCAL TIME (America/New_York)  UTC                GAP           DST",
		"Sat 2026-03-07 02:30 -05:00    2026-03-07T07:30Z",
		"Sun 2026-03-08 03:00 -04:00    2026-03-08T07:00Z  +23 h 30 min  <DST starts, moved>",
		"Mon 2026-03-09 02:30 -04:00    2026-03-09T06:30Z  +23 h 30 min",
	}
	got := table.Lines(func(text string) string { return "<" + text + ">" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPrecision shows as much of a second as there is.
func TestPrecision(t *testing.T) {
	for _, test := range []struct{ at, other, local, utc string }{
		{"2026-01-01T09:00:00Z", "2026-01-01T10:00:00Z", "Thu 2026-01-01 09:00 +00:00", "2026-01-01T09:00Z"},
		{"2026-01-01T09:00:00Z", "2026-01-01T10:00:05Z", "Thu 2026-01-01 09:00:00 +00:00", "2026-01-01T09:00:00Z"},
		{"2026-01-01T09:00:00.5Z", "2026-01-01T10:00:00Z", "Thu 2026-01-01 09:00:00.5 +00:00", "2026-01-01T09:00:00.5Z"},
		{"2026-01-01T09:00:00.5Z", "2026-01-01T10:00:00.125Z", "Thu 2026-01-01 09:00:00.500 +00:00", "2026-01-01T09:00:00.500Z"},
	} {
		row := calendar.Table{Zone: time.UTC, Times: instants(t, test.at, test.other)}.Rows()[0]
		if row.Local != test.local || row.UTC != test.utc {
			t.Errorf("%s beside %s: %q, %q", test.at, test.other, row.Local, row.UTC)
		}
	}
	row := calendar.Table{Zone: zone(t, "Africa/Monrovia"), Times: instants(t, "1971-01-01T00:00:00Z")}.Rows()[0]
	if want := "Thu 1970-12-31 23:15:30 -00:44:30"; row.Local != want {
		t.Errorf("%q, want %q", row.Local, want)
	}
}

func TestMarks(t *testing.T) {
	for _, test := range []struct{ zone, times, want string }{
		{"UTC", "2026-03-08T00:00:00Z 2026-11-08T00:00:00Z", " | "},
		{"America/New_York", "2026-10-31T05:30:00Z 2026-11-01T05:30:00Z 2026-11-01T06:30:00Z 2026-11-02T06:30:00Z", " | first time | DST ends, second time | "},
		{"America/New_York", "2026-11-01T04:59:59Z 2026-11-01T05:00:00Z 2026-11-01T05:59:59Z 2026-11-01T06:00:00Z 2026-11-01T06:59:59Z 2026-11-01T07:00:00Z", " | first time | first time | DST ends, second time | second time | "},
		{"America/New_York", "2026-03-08T06:59:59Z 2026-03-08T07:00:00Z 2026-03-08T07:59:59Z 2026-03-08T08:00:00Z", " | DST starts, moved | moved | "},
		{"America/New_York", "2026-01-01T00:00:00Z 2027-01-01T00:00:00Z", " | "},                                   // there and back
		{"Europe/Dublin", "2026-03-28T01:30:00Z 2026-03-30T00:30:00Z", " | DST starts"},                            // where winter is the exception
		{"Europe/Dublin", "2026-10-24T00:00:00Z 2026-10-26T00:00:00Z", " | DST ends"},                              //
		{"Australia/Lord_Howe", "2026-04-04T14:30:00Z 2026-04-04T15:00:00Z", "first time | DST ends, second time"}, // half an hour
		{"Europe/Moscow", "2014-10-25T00:00:00Z 2014-10-27T00:00:00Z", " | clock 1 h back"},
		{"Europe/Moscow", "2011-03-20T00:00:00Z 2011-04-20T00:00:00Z", " | clock 1 h forward"},
		{"Pacific/Apia", "2011-12-29T22:00:00Z 2011-12-30T22:00:00Z", " | clock 1 day forward, moved"}, // a day left out
		{"Asia/Kolkata", "2026-03-08T00:00:00Z 2026-11-08T00:00:00Z", " | "},
	} {
		table := calendar.Table{
			Zone: zone(t, test.zone), Times: instants(t, strings.Fields(test.times)...), Moved: func(time.Time) bool { return true },
		}
		var marks []string
		for _, row := range table.Rows() {
			marks = append(marks, row.Marks)
		}
		if got := strings.Join(marks, " | "); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.zone, test.times, got, test.want)
		}
	}
}

// TestNoMarks shows that there is no column for marks without any.
func TestNoMarks(t *testing.T) {
	lines := calendar.Table{Zone: time.UTC, Times: instants(t, "2026-01-01T09:00:00Z")}.Lines(plain)
	want := []string{"LOCAL TIME (UTC)             UTC                GAP", "Thu 2026-01-01 09:00 +00:00  2026-01-01T09:00Z"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
