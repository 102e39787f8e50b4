package spelling

import (
	"strconv"
	"strings"
)

// OnlyDigits reports whether a text consists of at least one digit and nothing else.
func OnlyDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// Number returns the value of at most nine digits; of none, 0.
func Number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// SmallNumber reads digits, nine at most besides leading zeros.
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
