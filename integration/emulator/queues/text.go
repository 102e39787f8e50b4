package queues

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// short returns the beginning of a text, in one line.
func short(s string, most int) string {
	s = frame.Visible(strings.Join(strings.Fields(cut(s, 4*most)), " "))
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

// cut returns the beginning of a text, which does not end within a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// length tells a length of time in plain words: its two largest units.
func length(d time.Duration) string {
	units := []struct {
		key string
		of  time.Duration
	}{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}}
	var parts []string
	for _, u := range units {
		if n := d / u.of; n > 0 && len(parts) < 2 {
			parts = append(parts, words.Count("queues.length."+u.key, int(n)))
			d %= u.of
		}
	}
	if len(parts) == 0 {
		return d.String()
	}
	return strings.Join(parts, " ")
}
