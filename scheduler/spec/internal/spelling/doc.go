// Package spelling parses numbers and finds the nearest name to a misspelled word. The cost is bounded by the length of
// the word and the number of names.
package spelling
