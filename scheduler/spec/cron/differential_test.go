package cron

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/instant"
	"github.com/carillon-sched/carillon/scheduler/spec/internal/language"
)

// TestCronAgainstRobfig compares random expressions with github.com/robfig/cron where the two mean the same: without a 7
// for Sunday, without a day field that begins with * beside another (robfig then wants both), without what only one of
// them has, and with the clock followed literally.
func TestCronAgainstRobfig(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	parser := cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
	compared := 0
	for compared < 400 {
		text := randomCron(r, language.Dsari)
		f := strings.Fields(text)
		if strings.Contains(f[4], "7") || strings.Contains(f[4], "SUN") || f[4] == "5-0" ||
			f[2] != "*" && f[4] != "*" && (f[2][0] == '*' || f[4][0] == '*') {
			continue
		}
		theirs, err := parser.Parse(strings.Join(append([]string{f[5]}, f[:5]...), " "))
		if err != nil {
			t.Fatalf("robfig: %q: %v", text, err)
		}
		compared++
		rule, err := Parse(text, language.Dsari)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for _, name := range []string{"UTC", "America/New_York", "Europe/London"} {
			zone := zoneNamed(t, name)
			ours := compiled(t, rule, language.Context{Zone: zone, DST: instant.Literal})
			at := time.Unix(1_100_000_000+r.Int64N(900_000_000), 0).In(zone)
			for range 20 {
				want := theirs.Next(at)
				got, ok := ours.Next(at)
				if want.IsZero() { // robfig looks no further than five years
					if ok && got.Before(at.AddDate(5, 0, 0)) {
						t.Fatalf("%q in %s after %v: %v, but robfig finds none", text, name, at, got)
					}
					break
				}
				if !ok || !got.Equal(want) {
					t.Fatalf("%q in %s after %v: %v %v, but robfig has %v", text, name, at, got, ok, want)
				}
				at = want
			}
		}
	}
}
