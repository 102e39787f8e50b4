package document

// leading returns how many bytes at the beginning of s stand for themselves in a JSON string: ASCII without control
// characters, quotes and backslashes. Most strings are nothing else, so eight are looked at in one step.
func leading(s string) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		b := s[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		if special(w) {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x80 {
			break
		}
	}
	return i
}

// One byte, in each of eight.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones // the highest bit of each
)

// special reports whether any of eight bytes is not plain. Less than n, which is at most 0x80, is a byte whose highest
// bit is not set and is when n is taken from it; a borrow from the byte below comes only where that one is special.
func special(w uint64) bool {
	control := (w - 0x20*ones) &^ w
	quote, escape := w^'"'*ones, w^'\\'*ones
	return (w|control|(quote-ones)&^quote|(escape-ones)&^escape)&highs != 0
}
