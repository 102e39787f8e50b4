package calendar

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Feed is a calendar for calendar programs: one event for each instant (RFC 5545). An event takes no time and leaves its
// owner free.
type Feed struct {
	// Name is the title of the calendar and of its events.
	Name string

	// Identity is what, together with its instant, makes an event the same in every feed, so that a program that reads a
	// later feed changes events instead of adding them again.
	Identity string

	// Description is the text of the events.
	Description string

	// Stamp is when the feed was made.
	Stamp time.Time

	// Times are the instants. A fraction of a second is cut off.
	Times []time.Time
}

// instant is a date and time in UTC, as iCalendar writes it.
const instant = "20060102T150405Z"

// String returns the feed.
func (f Feed) String() string {
	var b feedWriter
	b.line("BEGIN", "VCALENDAR")
	b.line("VERSION", "2.0")
	b.line("PRODID", "-//Carillon//carillon preview//EN")
	b.line("CALSCALE", "GREGORIAN")
	b.line("X-WR-CALNAME", feedText(f.Name))
	for _, at := range f.Times {
		b.line("BEGIN", "VEVENT")
		b.line("UID", f.uid(at))
		b.line("DTSTAMP", f.Stamp.UTC().Format(instant))
		b.line("DTSTART", at.UTC().Format(instant))
		b.line("SUMMARY", feedText(f.Name))
		b.line("DESCRIPTION", feedText(f.Description))
		b.line("TRANSP", "TRANSPARENT")
		b.line("END", "VEVENT")
	}
	b.line("END", "VCALENDAR")
	return b.String()
}

// uid returns the identity of an event.
func (f Feed) uid(at time.Time) string {
	sum := sha256.Sum256([]byte(f.Identity))
	return fmt.Sprintf("%s-%x@carillon", at.UTC().Format(instant), sum[:8])
}

// feedText writes a text as a value (RFC 5545, section 3.3.11). Characters that no value may have are left out.
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

// maxLine is how many bytes a line may have without its end (RFC 5545, section 3.1).
const maxLine = 75

// line writes a property, folded: what a line has no room for goes to the next, which begins with a blank. No character
// is cut in two.
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
