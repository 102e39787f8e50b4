package spec

import "strings"

// onlyDigits reports whether a text consists of at least one digit and nothing else.
func onlyDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// number returns the value of at most nine digits; of none, 0.
func number(text string) int {
	n := 0
	for i := range len(text) {
		n = n*10 + int(text[i]-'0')
	}
	return n
}

// smallNumber reads digits, nine at most besides leading zeros.
func smallNumber(text string) (int, bool) {
	if !onlyDigits(text) {
		return 0, false
	}
	text = strings.TrimLeft(text, "0")
	return number(text[:min(len(text), 9)]), len(text) <= 9
}

// signedNumber reads digits that may have a sign before them.
func signedNumber(text string) (int, bool) {
	bare := strings.TrimPrefix(text, "-")
	if bare == text {
		bare = strings.TrimPrefix(text, "+")
	}
	n, ok := smallNumber(bare)
	if text != "" && text[0] == '-' {
		n = -n
	}
	return n, ok
}
