package egress

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// MaxRetryAfter is the longest wait that an answer may ask for; the retry
// policy has bounds of its own.
const MaxRetryAfter = 24 * time.Hour

// retryAfters are the headers by which a service asks to be left alone, and
// their unit. The first two are Azure's.
var retryAfters = []struct {
	name string
	unit time.Duration
}{
	{"X-Ms-Retry-After-Ms", time.Millisecond},
	{"Retry-After-Ms", time.Millisecond},
	{"Retry-After", time.Second},
}

// RetryAfter returns how long an answer with these headers asks to wait, at
// most [MaxRetryAfter]; 0 when it does not say. Retry-After is seconds or a date
// (RFC 9110, section 10.2.3).
func RetryAfter(h http.Header) time.Duration {
	for _, header := range retryAfters {
		value := h.Get(header.name)
		n, err := strconv.ParseUint(value, 10, 64)
		if err == nil && n > 0 || errors.Is(err, strconv.ErrRange) {
			return time.Duration(min(n, uint64(MaxRetryAfter/header.unit))) * header.unit
		}
		if at, err := http.ParseTime(value); err == nil && header.unit == time.Second {
			return min(max(0, time.Until(at)), MaxRetryAfter)
		}
	}
	return 0
}
