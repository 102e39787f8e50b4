package servicebus

import "bytes"

// withoutComments replaces the comments of a JSON text by spaces, so that offsets in error messages stay right.
func withoutComments(raw []byte) []byte {
	clean := bytes.Clone(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	for i := 0; i < len(clean); {
		switch {
		case clean[i] == '"':
			i = afterString(clean, i)
		case bytes.HasPrefix(clean[i:], []byte("//")):
			i = blank(clean, i, bytes.IndexByte(clean[i:], '\n'))
		case bytes.HasPrefix(clean[i:], []byte("/*")):
			end := bytes.Index(clean[i+2:], []byte("*/"))
			if end >= 0 {
				end += 4
			}
			i = blank(clean, i, end)
		default:
			i++
		}
	}
	return clean
}

// afterString returns where the string that begins at i ends.
func afterString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// blank overwrites n bytes from i on, or all if n is negative, and returns where they end.
func blank(b []byte, i, n int) int {
	end := i + n
	if n < 0 {
		end = len(b)
	}
	for ; i < end; i++ {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
	return end
}
