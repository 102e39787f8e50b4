package spelling

import "github.com/carillon-sched/carillon/scheduler/document"

// Nearest returns the name that word was probably meant to be: the one it takes the fewest changes to reach, at most a
// third of its letters. It returns "" if there is none.
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
