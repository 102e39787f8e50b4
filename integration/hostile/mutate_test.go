package hostile

import (
	"bytes"
	"math/rand/v2"
)

// words are what a mutation puts in: the marks of the formats, and values at the edges of types.
var words = []string{
	"{", "}", "[", "]", ":", ",", `"`, "'", "\\", "&a", "*a", "<<: *a", "!!binary", "|", ">", "- ", "? ", "#", "\t", "\r", "\n", "\x00", "\xff",
	"null", "true", "~", "-1", "0", "9223372036854775808", "1e999", "-0.0", "NaN", "0x1F", "2262-04-12T00:00:00Z", "9999-12-31T23:59:59Z",
	"P1D", "PT0S", "PT999999H", "* * * * *", "@recur", "FREQ=SECONDLY;INTERVAL=1", "BYSETPOS=-1", "COUNT=1000000", "Europe/Berlin",
	"\u202e", "\ufeff", "\u0130", "%00", "%2e%2e", "../", "http://[::1", "Content-Length: 99999", "Transfer-Encoding: chunked", "HTTP/1.1",
}

// mutant returns one of the seeds, changed in a few places, the same for the same random numbers.
func mutant(r *rand.Rand, seeds [][]byte) []byte {
	b := bytes.Clone(seeds[r.IntN(len(seeds))])
	for range 1 + r.IntN(6) {
		if len(b) == 0 {
			return b
		}
		at := r.IntN(len(b))
		end := min(len(b), at+1+r.IntN(16))
		switch r.IntN(8) {
		case 0: // flip a bit
			b[at] ^= 1 << r.IntN(8)
		case 1: // any byte
			b[at] = byte(r.Uint32())
		case 2: // leave out
			b = append(b[:at], b[end:]...)
		case 3: // say it again, and again
			b = append(b[:end:end], append(bytes.Repeat(b[at:end], 1+r.IntN(40)), b[end:]...)...)
		case 4, 5: // put a word in
			b = append(b[:at:at], append([]byte(words[r.IntN(len(words))]), b[at:]...)...)
		case 6: // go on with another seed
			other := seeds[r.IntN(len(seeds))]
			b = append(b[:at:at], other[r.IntN(len(other)):]...)
		case 7: // cut off
			b = b[:at]
		}
	}
	return b
}
