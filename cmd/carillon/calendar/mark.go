package calendar

import (
	"strings"
	"time"
)

// Moved reports whether an instant shortly after a clock went forward stands for a time that the clock jumped over.
type Moved func(t time.Time) bool

// marks says what the changes of a clock have to do with an instant, in words: that the clock was changed since the
// previous instant, if that left it with another offset; that the instant was moved; that the clock shows its time twice.
// The instants are in the zone of the clock. A zero previous one is none.
func marks(previous, t time.Time, moved Moved) string {
	var words []string
	if !previous.IsZero() {
		if word := changed(previous, t); word != "" {
			words = append(words, word)
		}
	}
	if inGap(t) && moved != nil && moved(t) {
		words = append(words, "moved")
	}
	if word := again(t); word != "" {
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// changed says how the offset of t differs from that of an earlier instant, "" if it does not.
func changed(earlier, t time.Time) string {
	jump := offset(t) - offset(earlier)
	switch summer := t.IsDST() != earlier.IsDST(); {
	case jump == 0:
		return ""
	case summer && jump > 0: // also where winter is the exception, as in Dublin
		return "DST starts"
	case summer:
		return "DST ends"
	case jump > 0:
		return "clock " + Gap(time.Unix(0, 0), time.Unix(int64(jump), 0)) + " forward"
	default:
		return "clock " + Gap(time.Unix(int64(jump), 0), time.Unix(0, 0)) + " back"
	}
}

// inGap reports whether t comes so soon after its clock went forward that it can stand for a time in the gap.
func inGap(t time.Time) bool {
	start, _ := t.ZoneBounds()
	if start.IsZero() {
		return false
	}
	jump := offset(t) - offset(start.Add(-1))
	return jump > 0 && t.Unix()-start.Unix() < int64(jump)
}

// again says whether the clock shows the time of t before or after in the same words, because it goes back.
func again(t time.Time) string {
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		if jump := offset(start.Add(-1)) - offset(t); t.Unix()-start.Unix() < int64(jump) {
			return "second time"
		}
	}
	if !end.IsZero() {
		if jump := offset(t) - offset(end); end.Unix()-t.Unix() <= int64(jump) {
			return "first time"
		}
	}
	return ""
}

// offset returns the seconds by which a clock is ahead of UTC.
func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}
