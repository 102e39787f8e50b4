package climb

import (
	"math/rand/v2"
	"strings"
)

// Text changes texts.
type Text struct {
	Tokens []string // what is put in, such as the words and the punctuation of a language
	Most   int      // bytes; what becomes longer is cut off
}

// Mutate returns input with one change: parts repeated, taken out, moved, or taken from another text, tokens put in.
func (t Text) Mutate(r *rand.Rand, input, other string) string {
	at := r.IntN(len(input) + 1)
	from, to := part(r, input)
	var s string
	switch r.IntN(9) {
	case 0: // a token, many times
		s = input[:at] + strings.Repeat(t.token(r), t.times(r, 2)) + input[at:]
	case 1: // a token
		s = input[:at] + t.token(r) + input[at:]
	case 2: // a part, many times
		s = input[:to] + strings.Repeat(input[from:to], t.times(r, to-from)) + input[to:]
	case 3: // without a part
		s = input[:from] + input[to:]
	case 4: // a part of the other
		from, to := part(r, other)
		s = input[:at] + other[from:to] + input[at:]
	case 5: // as long as may be, of what it ends with
		s = input[:to] + strings.Repeat(input[from:to], max(0, t.Most-len(input))/max(1, to-from)) + input[to:]
	case 6: // a token in place of a part
		s = input[:from] + t.token(r) + input[to:]
	case 7: // a part in another place
		s = input[:from] + input[to:]
		at = r.IntN(len(s) + 1)
		s = s[:at] + input[from:to] + s[at:]
	default: // one token in place of another
		s = strings.ReplaceAll(input, t.token(r), t.token(r))
	}
	return s[:min(len(s), t.Most)]
}

func (t Text) token(r *rand.Rand) string { return t.Tokens[r.IntN(len(t.Tokens))] }

// times returns how often to repeat something of a length: a few times, or as often as there is room.
func (t Text) times(r *rand.Rand, length int) int {
	return 1 + r.IntN(min(1+t.Most/max(1, length), 1<<(1+r.IntN(14))))
}

// part returns the bounds of a part of a text, mostly a short one.
func part(r *rand.Rand, s string) (from, to int) {
	if s == "" {
		return 0, 0
	}
	from = r.IntN(len(s))
	return from, from + 1 + r.IntN(min(len(s)-from, 1<<(1+r.IntN(14))))
}
