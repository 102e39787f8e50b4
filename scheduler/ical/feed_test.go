package ical_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carillon-sched/carillon/scheduler/ical"
)

func TestFeed(t *testing.T) {
	feed := ical.Feed{Name: "billing, nightly", Product: "carillon preview", Events: []ical.Event{{
		Name: "billing, nightly", Identity: "billing", Description: "at 09:00; on Monday\nand Friday", Stamp: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		At: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC),
	}}}
	want := strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Carillon//carillon preview//EN
CALSCALE:GREGORIAN
X-WR-CALNAME:billing\, nightly
BEGIN:VEVENT
UID:20260102T080000Z-0c95c7ece1ce1a97@carillon
DTSTAMP:20260101T000000Z
DTSTART:20260102T080000Z
SUMMARY:billing\, nightly
DESCRIPTION:at 09:00\; on Monday\nand Friday
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n")
	if diff := cmp.Diff(want, feed.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFeedReadsBack reads feeds of all texts and compares what they say.
func TestFeedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := ical.Event{
			Name: rapid.String().Draw(t, "name"), Description: strings.Repeat(rapid.String().Draw(t, "description"), 3),
			Stamp: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "stamp"), 0),
		}
		one.Identity = one.Name
		feed := ical.Feed{Name: one.Name}
		var want []time.Time
		at := time.Unix(rapid.Int64Range(0, 1<<36).Draw(t, "first"), 0)
		for range rapid.IntRange(0, 5).Draw(t, "count") {
			one.At = at
			feed.Events, want = append(feed.Events, one), append(want, at)
			at = at.Add(time.Hour)
		}
		events, err := readFeed(feed.String())
		if err != nil {
			t.Fatal(err)
		}
		var times []time.Time
		seen := map[string]bool{}
		for _, event := range events {
			at, err := time.Parse("20060102T150405Z", event["DTSTART"])
			if err != nil {
				t.Fatal(err)
			}
			times = append(times, at)
			if seen[event["UID"]] {
				t.Errorf("UID %s twice", event["UID"])
			}
			seen[event["UID"]] = true
			if got, want := event["SUMMARY"], cleaned(one.Name); got != want {
				t.Errorf("SUMMARY %q, want %q", got, want)
			}
			if got, want := event["DESCRIPTION"], cleaned(one.Description); got != want {
				t.Errorf("DESCRIPTION %q, want %q", got, want)
			}
			if got, want := event["DTSTAMP"], one.Stamp.UTC().Format("20060102T150405Z"); got != want {
				t.Errorf("DTSTAMP %q, want %q", got, want)
			}
		}
		if !slices.EqualFunc(times, want, time.Time.Equal) {
			t.Errorf("times %v, want %v", times, want)
		}
	})
}

// cleaned returns a text as a feed can hold it.
func cleaned(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r >= 0x7F && r < 0xA0 {
			return -1
		}
		return r
	}, s)
}

// readFeed reads a feed by the rules of RFC 5545 and returns the properties of its events.
func readFeed(text string) ([]map[string]string, error) {
	if !strings.HasSuffix(text, "\r\n") || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\n") {
		return nil, fmt.Errorf("lines do not end in CRLF: %q", text)
	}
	for line := range strings.SplitSeq(text, "\r\n") {
		if len(line) > 75 || !utf8.ValidString(line) {
			return nil, fmt.Errorf("line %q has %d octets", line, len(line))
		}
	}
	var events []map[string]string
	var open []string
	for line := range strings.SplitSeq(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n ", ""), "\r\n"), "\r\n") {
		name, value, ok := strings.Cut(line, ":")
		switch {
		case !ok:
			return nil, fmt.Errorf("line %q has no colon", line)
		case name == "BEGIN":
			open = append(open, value)
			if value == "VEVENT" {
				events = append(events, map[string]string{})
			}
		case name == "END":
			if len(open) == 0 || open[len(open)-1] != value {
				return nil, fmt.Errorf("%q ends %v", line, open)
			}
			open = open[:len(open)-1]
		case len(open) == 2:
			event := events[len(events)-1]
			if _, twice := event[name]; twice {
				return nil, fmt.Errorf("%s stands twice", name)
			}
			event[name] = strings.NewReplacer(`\\`, `\`, `\;`, ";", `\,`, ",", `\n`, "\n").Replace(value)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("not ended: %v", open)
	}
	return events, nil
}
