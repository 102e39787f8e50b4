package web

import (
	"fmt"
	"strconv"
	"strings"
)

// The least and greatest status an answer has (RFC 9110, section 15).
const (
	minStatus = 100
	maxStatus = 599
)

// statusSet is a set of status codes, one bit for each.
type statusSet [maxStatus/64 + 1]uint64

// has reports whether status is in the set.
func (s *statusSet) has(status int) bool {
	return status >= minStatus && status <= maxStatus && s[status/64]&(1<<(status%64)) != 0
}

// add puts all codes from low to high into the set.
func (s *statusSet) add(low, high int) {
	for status := low; status <= high; status++ {
		s[status/64] |= 1 << (status % 64)
	}
}

// parseStatus reads one member of request.success.status and returns the codes
// it stands for: 200, 2xx (x in either case) or 200-204.
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
