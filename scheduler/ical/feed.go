// Package ical writes instants as an iCalendar feed (RFC 5545) for calendar programs. It is pure.
//
//	Feed with Events ──▶ text/calendar
//
// An event has a stable UID, derived from its identity and instant, so that a program that subscribes to the feed
// updates events instead of duplicating them. Lines are folded and texts escaped as the RFC requires.
package ical

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Feed is an iCalendar feed (RFC 5545). Its events have no duration and do not block time.
type Feed struct {
	// Name is the title of the calendar.
	Name string

	// Product is the program that wrote the feed.
	Product string

	// Refresh is the interval at which subscribers should fetch the feed (RFC 7986, section 5.7). Zero: not specified.
	Refresh time.Duration

	Events []Event
}

// Event is an instant.
type Event struct {
	// Identity and the instant identify an event across feeds, so that subscribers update events instead of adding them
	// again.
	Identity string

	Name        string    // its title
	Description string    // its text
	URL         string    // where there is more about it; "": nowhere
	Stamp       time.Time // creation or last change
	At          time.Time // truncated to the second
}

// instant is iCalendar's format of a UTC time.
const instant = "20060102T150405Z"

// String returns the feed.
func (f Feed) String() string {
	var b feedWriter
	b.line("BEGIN", "VCALENDAR")
	b.line("VERSION", "2.0")
	b.line("PRODID", "-//Carillon//"+f.Product+"//EN")
	b.line("CALSCALE", "GREGORIAN")
	b.line("X-WR-CALNAME", feedText(f.Name))
	if f.Refresh > 0 {
		length := fmt.Sprintf("PT%dM", max(1, int(f.Refresh/time.Minute)))
		b.line("REFRESH-INTERVAL;VALUE=DURATION", length)
		b.line("X-PUBLISHED-TTL", length)
	}
	for i := range f.Events {
		b.event(&f.Events[i])
	}
	b.line("END", "VCALENDAR")
	return b.String()
}

// uid returns the UID of an event.
func (e *Event) uid() string {
	sum := sha256.Sum256([]byte(e.Identity))
	return fmt.Sprintf("%s-%x@carillon", e.At.UTC().Format(instant), sum[:8])
}

// feedText escapes a text (RFC 5545, section 3.3.11). It drops characters that no value may contain.
func feedText(s string) string {
	s = strings.NewReplacer("\\", `\\`, ";", `\;`, ",", `\,`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`).Replace(s)
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// feedWriter writes the lines of a feed.
type feedWriter struct{ strings.Builder }

// maxLine is the maximum length of a line in bytes, without its end (RFC 5545, section 3.1).
const maxLine = 75

func (w *feedWriter) event(e *Event) {
	w.line("BEGIN", "VEVENT")
	w.line("UID", e.uid())
	w.line("DTSTAMP", e.Stamp.UTC().Format(instant))
	w.line("DTSTART", e.At.UTC().Format(instant))
	w.line("SUMMARY", feedText(e.Name))
	w.line("DESCRIPTION", feedText(e.Description))
	if e.URL != "" {
		w.line("URL", e.URL)
	}
	w.line("TRANSP", "TRANSPARENT")
	w.line("END", "VEVENT")
}

// line writes a property and folds it: the rest continues on the next line after a space, without splitting a
// character.
func (w *feedWriter) line(name, value string) {
	rest, room := name+":"+value, maxLine
	for len(rest) > room {
		end := room
		for !utf8.RuneStart(rest[end]) {
			end--
		}
		w.WriteString(rest[:end] + "\r\n ")
		rest, room = rest[end:], maxLine-1
	}
	w.WriteString(rest + "\r\n")
}
