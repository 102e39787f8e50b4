package document

import "strings"

// The YAML library keeps to YAML 1.1 where that differs in what a text is. Documents are YAML 1.2.

// oldBreaks are characters that ended a line in YAML 1.1, and are text in 1.2.
var oldBreaks = []string{"\u0085", "\u2028", "\u2029"}

// hideBreaks puts characters for private use, which are not in the text, in place of old line breaks. What it returns
// besides brings them back.
func hideBreaks(text string) (hidden string, back *strings.Replacer) {
	if !strings.Contains(text, oldBreaks[0]) && !strings.Contains(text, oldBreaks[1]) && !strings.Contains(text, oldBreaks[2]) {
		return text, strings.NewReplacer()
	}
	var hide, show []string
	private := '\U000F0000'
	for _, old := range oldBreaks {
		for strings.ContainsRune(text, private) {
			private++
		}
		hide, show = append(hide, old, string(private)), append(show, string(private), old)
		private++
	}
	return strings.NewReplacer(hide...).Replace(text), strings.NewReplacer(show...)
}

// asOld has the directive of a document say that it is YAML 1.1, where it says 1.2: the library refuses that.
func asOld(text string) string {
	const current, old = "%YAML 1.2", "%YAML 1.1"
	from := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, current) {
			return text[:from] + old + text[from+len(old):]
		}
		if !isPrelude(line) {
			break
		}
		from += len(line)
	}
	return text
}

// isPrelude reports whether a line comes before a document: it is empty, a comment or a directive.
func isPrelude(line string) bool {
	line = strings.TrimRight(line, " \t\r\n")
	return line == "" || line[0] == '#' || line[0] == '%'
}
