package spelling

import (
	"strconv"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Nearest returns the name with the fewest edits from word, at most a third of its letters. It returns "" if no name is
// that close.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/3+1
	for _, name := range names {
		if max(len(name)-len(word), len(word)-len(name)) >= least {
			continue
		}
		if d := document.Distance(word, name, least); d < least {
			best, least = name, d
		}
	}
	return best
}

// DidYouMean returns a hint with the nearest name, or nothing.
func DidYouMean(word string, names []string) string {
	if meant := Nearest(word, names); meant != "" {
		return "did you mean " + meant + "?"
	}
	return ""
}

// Short returns a text that is not too long for an error message.
func Short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// OnlyDigits reports whether a text consists of at least one digit and nothing else.
func OnlyDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Number returns the value of at most nine digits; of none, 0.
func Number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// SmallNumber parses at most nine digits after leading zeros.
func SmallNumber(text string) (int, bool) {
	if !OnlyDigits(text) {
		return 0, false
	}
	text = strings.TrimLeft(text, "0")
	return Number(text[:min(len(text), 9)]), len(text) <= 9
}

// SignedNumber reads digits that may have a sign before them.
func SignedNumber(text string) (int, bool) {
	bare := strings.TrimPrefix(text, "-")
	if bare == text {
		bare = strings.TrimPrefix(text, "+")
	}
	n, ok := SmallNumber(bare)
	if text != "" && text[0] == '-' {
		n = -n
	}
	return n, ok
}
