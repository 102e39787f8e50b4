package tz

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestJavaZones shows the ids of Java beside those of the IANA database: what each means, by the offsets it has in winter
// and in summer.
func TestJavaZones(t *testing.T) {
	for name, want := range map[string]string{
		"JST": "+09:00 +09:00", "AET": "+11:00 +10:00", "CTT": "+08:00 +08:00", "CAT": "+02:00 +02:00", "PNT": "-07:00 -07:00",
		"EST": "-05:00 -05:00", "MST": "-07:00 -07:00", "HST": "-10:00 -10:00", "SystemV/PST8PDT": "-08:00 -07:00",
		"GMT+5": "+05:00 +05:00", "GMT+05:30": "+05:30 +05:30", "GMT+5:30": "+05:30 +05:30", "GMT-0330": "-03:30 -03:30",
		"UTC+05:30": "+05:30 +05:30", "UTC-1": "-01:00 -01:00", "UT+01:00": "+01:00 +01:00", "+05:30": "+05:30 +05:30",
		"-08": "-08:00 -08:00", "-00:30": "-00:30 -00:30", "+0530": "+05:30 +05:30", "+18:00": "+18:00 +18:00",
		"UT": "Z Z", "Z": "Z Z", "UTC+0": "Z Z", "GMT": "Z Z", "GMT0": "Z Z", "Zulu": "Z Z",
		"Etc/GMT+5": "-05:00 -05:00", // of POSIX, not of ISO 8601
	} {
		loc, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		winter, summer := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC), time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)
		if got := winter.In(loc).Format("Z07:00") + " " + summer.In(loc).Format("Z07:00"); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
		again, err := Load(loc.String())
		if err != nil || again != loc {
			t.Errorf("%s is called %s, which is %v, %v", name, loc, again, err)
		}
		if interval := Of(loc).At(winter.Unix()); interval.Offset != int64(winter.Sub(wall(winter, loc)).Seconds())*-1 {
			t.Errorf("%s: %+v", name, interval)
		}
	}
	for id, name := range javaIDs {
		if !Known(name) || Known(id) || ambiguousIDs[id] != nil {
			t.Errorf("%s: %s", id, name)
		}
	}
}

// wall returns what a clock in a zone shows, as an instant of UTC.
func wall(t time.Time, loc *time.Location) time.Time {
	l := t.In(loc)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), 0, time.UTC)
}

// TestAmbiguousZonesAreRefused shows that a short id which Java and others read differently is nobody's.
func TestAmbiguousZonesAreRefused(t *testing.T) {
	for name, want := range map[string]string{
		"BST":       `"BST" is not a time zone; Java reads it as Asia/Dhaka, others as Europe/London or Pacific/Bougainville: use the name of that zone`,
		"ART":       `"ART" is not a time zone; Java reads it as Africa/Cairo, others as America/Argentina/Buenos_Aires: use the name of that zone`,
		"ist":       `"ist" is not a time zone; Java reads it as Asia/Kolkata, others as Europe/Dublin or Asia/Jerusalem: use the name of that zone`,
		"jst":       `"jst" is not a time zone; did you mean "Asia/Tokyo"?`,
		"UTC+19":    `"UTC+19" is not a time zone; an offset is +5, +05:30 or UTC+05:30, and at most 18 hours`,
		"+18:01":    `"+18:01" is not a time zone; an offset is +5, +05:30 or UTC+05:30, and at most 18 hours`,
		"GMT+05:60": `"GMT+05:60" is not a time zone; an offset is +5, +05:30 or UTC+05:30, and at most 18 hours`,
		"+530":      `"+530" is not a time zone; an offset is +5, +05:30 or UTC+05:30, and at most 18 hours`,
		"+5.5":      `"+5.5" is not a time zone; an offset is +5, +05:30 or UTC+05:30, and at most 18 hours`,
		"gmt+5":     `"gmt+5" is not a time zone; did you mean "GMT+5"?`,
		"UTC+":      `"UTC+" is not a time zone; did you mean "UTC"?`,
		"Mars":      `"Mars" is not a time zone of the IANA database, such as America/New_York or UTC`,
	} {
		if _, err := Load(name); err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", name, err, want)
		}
	}
	for id, readings := range ambiguousIDs {
		if _, err := Load(id); err == nil || !strings.Contains(err.Error(), readings[0]) || Suggest(id) != readings[0] {
			t.Errorf("%s: %v", id, err)
		}
		for _, name := range readings {
			if !Known(name) {
				t.Error(name)
			}
		}
	}
}

// TestOffsetsAreFew shows that however an offset is written, it is one zone: a process keeps a few thousand at most.
func TestOffsetsAreFew(t *testing.T) {
	first := must.Get(Load("UTC+05:30"))(t)
	for _, name := range []string{"+05:30", "+0530", "GMT+5:30", "GMT+0530", "UT+05:30"} {
		if loc, err := Load(name); err != nil || loc != first {
			t.Errorf("%s: %v, %v", name, loc, err)
		}
	}
}
