package initfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// units are the frequencies by their first letters, longest first where one has several.
var units = []struct {
	frequency string
	short     []string
	seconds   int // 0: not a fixed number
}{
	{"second", []string{"s", "sec"}, 1},
	{"minute", []string{"m", "min"}, 60},
	{"hour", []string{"h"}, 3600},
	{"day", []string{"d"}, 86400},
	{"week", []string{"w"}, 604800},
	{"month", []string{"mo"}, 0},
	{"year", []string{"y"}, 0},
}

var part = regexp.MustCompile(`^(\d*)\s*([a-z]+)\s*`)

// ReadEvery reads how often a job runs: 5m, 1h30m, day, 2 weeks.
func ReadEvery(text string) (frequency string, interval int, err error) {
	wrong := fmt.Errorf("--every: %q is not like 30s, 5m, 1h30m, day, 2 weeks, month", text)
	rest := strings.ToLower(strings.TrimSpace(text))
	type length struct{ unit, n int }
	var parts []length
	for rest != "" {
		m := part.FindStringSubmatch(rest)
		if m == nil {
			return "", 0, wrong
		}
		unit, n := unitOf(m[2]), 1
		if m[1] != "" {
			n, err = strconv.Atoi(m[1])
		}
		if unit < 0 || err != nil || n < 1 || n > 1<<20 {
			return "", 0, wrong
		}
		parts = append(parts, length{unit, n})
		rest = rest[len(m[0]):]
	}
	if len(parts) == 1 {
		return units[parts[0].unit].frequency, parts[0].n, nil
	}
	total, least := 0, len(units)
	for _, p := range parts {
		if units[p.unit].seconds == 0 {
			return "", 0, wrong // nobody knows how long 1 month 3 days are
		}
		total += p.n * units[p.unit].seconds
		least = min(least, p.unit)
	}
	if len(parts) == 0 {
		return "", 0, wrong
	}
	return units[least].frequency, total / units[least].seconds, nil
}

// unitOf returns the index of a unit, -1 for none.
func unitOf(word string) int {
	for i, u := range units {
		if word == u.frequency || word == u.frequency+"s" || slices.Contains(u.short, word) {
			return i
		}
	}
	return -1
}
