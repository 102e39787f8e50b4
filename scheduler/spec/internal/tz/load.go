package tz

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// located holds the zones that were loaded, by their names.
var located sync.Map

// Load returns the zone of that name in the IANA time zone database. Names are exact, those of [Names]:
// "America/New_York", "UTC". The error says which name was probably meant.
func Load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	if loc, ok := located.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if !Known(name) { // a host's database has more: leap seconds, paths
		return nil, unknownZone(name)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknownZone(name)
	}
	kept, _ := located.LoadOrStore(name, loc)
	return kept.(*time.Location), nil
}

// Known reports whether a zone has that name.
func Known(name string) bool {
	_, known := slices.BinarySearch(zoneNames(), name)
	return known
}

func unknownZone(name string) error {
	if meant := Suggest(name); meant != "" {
		return fmt.Errorf("%q is not a time zone; did you mean %q?", name, meant)
	}
	return fmt.Errorf("%q is not a time zone of the IANA database, such as America/New_York or UTC", name)
}
