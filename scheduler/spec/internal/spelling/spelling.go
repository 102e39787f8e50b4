package spelling

import "slices"

// Nearest returns the name that word was probably meant to be: the one it takes the fewest changes to reach, at most a
// third of its letters. It returns "" if there is none.
func Nearest(word string, names []string) string {
	best, least := "", len(word)/3+1
	for _, name := range names {
		if max(len(name)-len(word), len(word)-len(name)) >= least {
			continue
		}
		if d := editDistance(word, name, least); d < least {
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

// editDistance returns how many letters must be put in, taken out, replaced or swapped with their neighbour to turn a
// into b. It may give up when it is limit or more.
func editDistance(a, b string, limit int) int {
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
		}
		if slices.Min(row) >= limit {
			return limit
		}
		older, old, row = old, row, older
	}
	return old[len(b)]
}

// Short returns a text that is not too long for an error message.
func Short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
