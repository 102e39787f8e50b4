package tz

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

// javaIDs are Java's unambiguous names outside the IANA database: the short IDs of java.time.ZoneId.SHORT_IDS that have
// no other meaning elsewhere, and the zones of System V. Obsidian accepts every name of TimeZone.getAvailableIDs().
var javaIDs = map[string]string{
	"AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "BET": "America/Sao_Paulo", "CAT": "Africa/Harare",
	"CNT": "America/St_Johns", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "IET": "America/Indiana/Indianapolis",
	"JST": "Asia/Tokyo", "NET": "Asia/Yerevan", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
	"VST": "Asia/Ho_Chi_Minh",

	"SystemV/AST4ADT": "America/Halifax", "SystemV/EST5EDT": "America/New_York", "SystemV/CST6CDT": "America/Chicago",
	"SystemV/MST7MDT": "America/Denver", "SystemV/PST8PDT": "America/Los_Angeles", "SystemV/YST9YDT": "America/Anchorage",
	"SystemV/AST4": "America/Puerto_Rico", "SystemV/EST5": "America/Indiana/Indianapolis", "SystemV/CST6": "America/Regina",
	"SystemV/MST7": "America/Phoenix", "SystemV/PST8": "Pacific/Pitcairn", "SystemV/YST9": "Pacific/Gambier",
	"SystemV/HST10": "Pacific/Honolulu",
}

// ambiguousIDs are the short ids of Java with several meanings, Java's first.
var ambiguousIDs = map[string][]string{
	"ACT": {"Australia/Darwin", "America/Rio_Branco"},
	"ART": {"Africa/Cairo", "America/Argentina/Buenos_Aires"},
	"AST": {"America/Anchorage", "America/Halifax", "Asia/Riyadh"},
	"BST": {"Asia/Dhaka", "Europe/London", "Pacific/Bougainville"},
	"CST": {"America/Chicago", "Asia/Shanghai", "America/Havana"},
	"ECT": {"Europe/Paris", "America/Guayaquil", "America/Port_of_Spain"}, //nolint:misspell // a zone
	"IST": {"Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"},
	"MIT": {"Pacific/Apia", "Pacific/Marquesas"},
	"NST": {"Pacific/Auckland", "America/St_Johns"},
	"PST": {"America/Los_Angeles", "Asia/Manila", "Pacific/Pitcairn"},
	"SST": {"Pacific/Guadalcanal", "Pacific/Pago_Pago"},
}

// maxOffset is the largest offset from UTC, 18 hours (java.time.ZoneOffset).
const maxOffset = 18 * 60

// offsetOf parses an offset from UTC and returns it in minutes east: Z, UT, +5, -08, +0530, +05:30, also after UTC, GMT
// or UT. It has the signs of ISO 8601, the opposite of Etc/GMT+5.
func offsetOf(name string) (minutes int, ok bool) {
	if name == "Z" || name == "UT" {
		return 0, true
	}
	for _, prefix := range []string{"UTC", "GMT", "UT", ""} {
		rest, found := strings.CutPrefix(name, prefix)
		if found && rest != "" && (rest[0] == '+' || rest[0] == '-') {
			minutes, ok = offsetDigits(rest[1:])
			if rest[0] == '-' {
				minutes = -minutes
			}
			return minutes, ok
		}
	}
	return 0, false
}

// offsetDigits reads h, hh, hhmm, h:mm or hh:mm.
func offsetDigits(text string) (minutes int, ok bool) {
	hours, rest, parted := strings.Cut(text, ":")
	if !parted && len(text) == 4 {
		hours, rest = text[:2], text[2:]
	}
	h, right := spelling.SmallNumber(hours)
	if !right || len(hours) > 2 || parted && len(rest) != 2 {
		return 0, false
	}
	m := 0
	if rest != "" {
		if m, right = spelling.SmallNumber(rest); !right || m > 59 {
			return 0, false
		}
	}
	return 60*h + m, 60*h+m <= maxOffset
}

// offsetZone returns the zone of a fixed offset, called UTC+05:30. There are few enough of them to keep them all.
func offsetZone(minutes int) *time.Location {
	if minutes == 0 {
		return time.UTC
	}
	name := fmt.Sprintf("UTC%+03d:%02d", minutes/60, max(minutes, -minutes)%60)
	if minutes > -60 && minutes < 0 {
		name = fmt.Sprintf("UTC-00:%02d", -minutes)
	}
	return keep(name, time.FixedZone(name, minutes*60))
}
