package queues

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// spanText writes a length of time as forms have it: 14d, 1d12h, 90s; nothing for none.
func spanText(d time.Duration) string {
	const day = 24 * time.Hour
	if d <= 0 {
		return ""
	}
	text := ""
	if days := d / day; days > 0 {
		text = strconv.FormatInt(int64(days), 10) + "d"
	}
	if rest := d % day; rest > 0 {
		short := rest.String()
		if strings.HasSuffix(short, "m0s") {
			short = strings.TrimSuffix(short, "0s")
		}
		if strings.HasSuffix(short, "h0m") {
			short = strings.TrimSuffix(short, "0m")
		}
		text += short
	}
	return text
}

var errSpan = errors.New("it is no length of time")

// parseSpan reads a length of time as [time.ParseDuration] does, with days before it if need be. Nothing is 0.
func parseSpan(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, nil
	}
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, errSpan
	}
	total := time.Duration(n) * 24 * time.Hour
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || total+d < total {
			return 0, errSpan
		}
		total += d
	}
	return total, nil
}
