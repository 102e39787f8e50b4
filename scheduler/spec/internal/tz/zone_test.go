package tz

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/calendar"
)

// TestZone compares the offsets, and the edges of the intervals, with those of package time, from before the first zone
// until long after the time zone database's last year.
func TestZone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range Names() {
		loc := must.Get(Load(name))(t)
		z := Of(loc)
		check := func(u int64) {
			t.Helper()
			s := z.At(u)
			at := time.Unix(u, 0).In(loc)
			if _, offset := at.Zone(); s.Offset != int64(offset) || u < s.Start || u >= s.End {
				t.Fatalf("%s at %s: %+v, want offset %d", name, at, s, offset)
			}
			if s.Start > calendar.FirstSecond {
				if _, before := time.Unix(s.Start-1, 0).In(loc).Zone(); s.Before != int64(before) {
					t.Fatalf("%s at %s: before %+v, want %d", name, at, s, before)
				}
			}
			if s.End < calendar.LastSecond {
				if _, after := time.Unix(s.End, 0).In(loc).Zone(); int64(after) == s.Offset {
					t.Fatalf("%s at %s: no change at the end of %+v", name, at, s)
				}
			}
		}
		for range 200 {
			check(r.Int64N(calendar.LastSecond-calendar.FirstSecond) + calendar.FirstSecond)
			check(r.Int64N(400*366*calendar.DayLength) - 100*366*calendar.DayLength)
		}
		for u := tailStart - 366*calendar.DayLength; u < tailStart+3*366*calendar.DayLength; u = z.At(u).End {
			check(u)
			if z.At(u).End == calendar.Forever {
				break
			}
			check(z.At(u).End - 1)
		}
	}
}

// TestLoadZoneIsExact shows that only names of the list are zones, not what else a host's database has.
func TestLoadZoneIsExact(t *testing.T) {
	for _, name := range []string{
		"", "Local", "localtime", "posixrules", "america/new_york", "America//New_York", "America/./New_York",
		"America/New_York/", "./America/New_York", "../zoneinfo/America/New_York", "right/Europe/Berlin",
		"./right/Europe/Berlin", "posix/Europe/Berlin", "tzdata.zi", "Mars/Olympus",
	} {
		if loc, err := Load(name); err == nil {
			t.Errorf("%q is accepted as %s", name, loc)
		}
	}
}
