// Package spelling reads numbers, and finds out which of several names a misspelled word was meant to be. It guarantees
// that the work grows with the length of the word and the number of names only.
package spelling
