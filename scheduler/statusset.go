package scheduler

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// The least and greatest status a target answers with (RFC 9110, section 15).
const (
	minStatus = 100
	maxStatus = 599
)

// StatusSet is a set of status codes, one bit for each. The zero set is empty.
type StatusSet [maxStatus/64 + 1]uint64

// Has reports whether status is in the set.
func (s *StatusSet) Has(status int) bool {
	return status >= minStatus && status <= maxStatus && s[status/64]&(1<<(status%64)) != 0
}

// Add puts all codes from low to high into the set.
func (s *StatusSet) Add(low, high int) {
	for status := low; status <= high; status++ {
		s[status/64] |= 1 << (status % 64)
	}
}

// ReadStatuses reads a member that is a list of status codes: "404", "4xx" (x
// in either case) or "500-503". ok is false when it is absent.
func ReadStatuses(o *document.Object, name string) (s StatusSet, ok bool) {
	patterns, ok := o.Strings(name)
	for i, pattern := range patterns {
		low, high, err := parseStatus(pattern)
		if err != nil {
			o.Reader().Problem(o.Element(name, i), "%v", err)
			continue
		}
		s.Add(low, high)
	}
	return s, ok
}

// parseStatus returns the codes that a pattern stands for.
func parseStatus(pattern string) (low, high int, err error) {
	first, last, isRange := strings.Cut(pattern, "-")
	switch {
	case isRange:
		low, high = statusCode(first), statusCode(last)
	case len(pattern) == 3 && strings.EqualFold(pattern[1:], "xx"):
		low = statusCode(pattern[:1] + "00")
		high = low + 99
	default:
		low = statusCode(pattern)
		high = low
	}
	switch {
	case low < 0 || high < 0:
		return 0, 0, fmt.Errorf("%q is not a status: write 200, 2xx or 200-204", pattern)
	case low < minStatus || high > maxStatus:
		return 0, 0, fmt.Errorf("%q is not in %d-%d", pattern, minStatus, maxStatus)
	case low > high:
		return 0, 0, fmt.Errorf("%q ends before it begins", pattern)
	}
	return low, high, nil
}

// statusCode reads three digits; -1 is anything else.
func statusCode(s string) int {
	if len(s) != 3 || strings.Trim(s, "0123456789") != "" {
		return -1
	}
	code, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return code
}
