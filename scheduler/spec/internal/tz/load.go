package tz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/english"
)

// located holds the zones that were loaded, by their names.
var located sync.Map

// Load returns the zone with that name in the IANA time zone database. Names are exact (see [Names]):
// "America/New_York", "UTC". It also accepts Java's unambiguous names: short IDs such as "JST", and fixed offsets such
// as "GMT+5", "UTC+05:30", "+0530" and "Z", with the signs of ISO 8601. The error suggests a name.
func Load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if iana, ok := javaIDs[name]; ok {
		name = iana
	}
	if loc, ok := located.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if !Known(name) { // a host's database has more: leap seconds, paths
		if minutes, ok := offsetOf(name); ok {
			return offsetZone(minutes), nil
		}
		return nil, unknownZone(name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknownZone(name)
	}
	return keep(name, loc), nil
}

// keep returns the one location of a name.
func keep(name string, loc *time.Location) *time.Location {
	kept, _ := located.LoadOrStore(name, loc)
	return kept.(*time.Location)
}

// Known reports whether a zone of the IANA database has that name.
func Known(name string) bool {
	_, known := slices.BinarySearch(zoneNames(), name)
	return known
}

func unknownZone(name string) error {
	if hint := Hint(name); hint != "" {
		return fmt.Errorf("%q is not a time zone; %s", name, hint)
	}
	return fmt.Errorf("%q is not a time zone of the IANA database, such as America/New_York or UTC", name)
}

// Hint suggests a zone for an unknown name, "" if it has no suggestion. For a short ID that is ambiguous between Java
// and others, it names all meanings.
func Hint(name string) string {
	if readings := ambiguousIDs[strings.ToUpper(name)]; readings != nil {
		return "Java reads it as " + readings[0] + ", others as " + english.List(readings[1:], "or") + ": use the name of that zone"
	}
	if meant := Suggest(name); meant != "" {
		return "did you mean " + strconv.Quote(meant) + "?"
	}
	if sign := strings.IndexAny(name, "+-"); sign >= 0 && offsetLike(name[sign+1:]) {
		return "an offset is +5, +05:30 or UTC+05:30, and at most 18 hours"
	}
	return ""
}

// offsetLike reports whether a text looks like the number of an offset.
func offsetLike(text string) bool {
	return text != "" && strings.Trim(text, "0123456789:.") == ""
}
