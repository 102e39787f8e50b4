package document

import (
	"slices"
	"strings"
)

// Nearest returns the name closest to word, without regard to case: one that begins with it, or that is at most one edit
// away per three letters of the longer of the two, and at most three. It returns "" if none is that near.
func Nearest(word string, names []string) string {
	best, bestDistance := "", 4
	if len(word) > 64 {
		return "" // no field has such a name; do not pay for the comparison
	}
	word = strings.ToLower(word)
	for _, name := range names {
		lower := strings.ToLower(name)
		if len(word) > 2 && strings.HasPrefix(lower, word) {
			return name
		}
		d := Distance(word, lower, bestDistance)
		if d < bestDistance && d <= (max(len(word), len(name))+2)/3 {
			best, bestDistance = name, d
		}
	}
	return best
}

// Distance returns how many letters must be inserted, deleted, replaced or swapped with their neighbour to make a into b
// (optimal string alignment). It may give up when that is limit or more.
func Distance(a, b string, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		if slices.Min(row) >= limit {
			return limit
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
