package spec

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestZone compares the offsets, and the edges of the stretches, with those of package time, from before the first zone
// until long after the time zone database's last year.
func TestZone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range ZoneNames() {
		loc, err := LoadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		z := zoneOf(loc)
		check := func(u int64) {
			t.Helper()
			s := z.at(u)
			at := time.Unix(u, 0).In(loc)
			if _, offset := at.Zone(); s.offset != int64(offset) || u < s.start || u >= s.end {
				t.Fatalf("%s at %s: %+v, want offset %d", name, at, s, offset)
			}
			if s.start > firstSecond {
				if _, before := time.Unix(s.start-1, 0).In(loc).Zone(); s.before != int64(before) {
					t.Fatalf("%s at %s: before %+v, want %d", name, at, s, before)
				}
			}
			if s.end < lastSecond {
				if _, after := time.Unix(s.end, 0).In(loc).Zone(); int64(after) == s.offset {
					t.Fatalf("%s at %s: no change at the end of %+v", name, at, s)
				}
			}
		}
		for range 200 {
			check(r.Int64N(lastSecond-firstSecond) + firstSecond)
			check(r.Int64N(400*366*dayLength) - 100*366*dayLength)
		}
		for u := tailStart - 366*dayLength; u < tailStart+3*366*dayLength; u = z.at(u).end {
			check(u)
			if z.at(u).end == forever {
				break
			}
			check(z.at(u).end - 1)
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
		if loc, err := LoadZone(name); err == nil {
			t.Errorf("%q is accepted as %s", name, loc)
		}
	}
}
