// Package mutate mutates valid input byte by byte, for tests of parsers.
package mutate

import (
	"math/rand/v2"
	"slices"
)

// A Mutator makes mutants of seeds. The same random numbers make the same.
type Mutator struct {
	Seeds [][]byte // valid input; at least one
	Words []string // tokens to insert: delimiters of the format, and limits of its types; at least one

	Least, Most int // how many changes there are
	Repeats     int // how often a word, or a piece, is said again at most
}

// Mutant returns one of the seeds with some changes.
func (m *Mutator) Mutant(r *rand.Rand) []byte {
	b := slices.Clone(m.seed(r))
	for range m.Least + r.IntN(m.Most-m.Least+1) {
		if len(b) == 0 {
			break
		}
		at := r.IntN(len(b))
		end := min(len(b), at+1+r.IntN(16))
		switch r.IntN(9) {
		case 0: // flip a bit
			b[at] ^= 1 << r.IntN(8)
		case 1: // any byte
			b[at] = byte(r.IntN(256))
		case 2: // leave out
			b = slices.Delete(b, at, end)
		case 3: // say it again, and again
			b = slices.Insert(b, at, slices.Repeat(b[at:end], 1+r.IntN(40))...)
		case 4, 5: // put a word in
			b = slices.Insert(b, at, []byte(m.word(r))...)
		case 6: // very often
			b = slices.Insert(b, at, slices.Repeat([]byte(m.word(r)), 1+r.IntN(m.Repeats))...)
		case 7: // the end of another
			other := m.seed(r)
			b = append(b[:at], other[r.IntN(len(other)):]...)
		case 8: // cut off
			b = b[:at]
		}
	}
	return b
}

func (m *Mutator) seed(r *rand.Rand) []byte { return m.Seeds[r.IntN(len(m.Seeds))] }
func (m *Mutator) word(r *rand.Rand) string { return m.Words[r.IntN(len(m.Words))] }
