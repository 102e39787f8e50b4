package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// harmless returns text as a terminal may show it. Jobs and targets say what they like, and a terminal obeys control
// characters: they are shown as escapes, and so is what turns the direction of writing. Line breaks and tabs stay, and
// with painted the colours of [Terminal.Paint].
func harmless(text string, painted bool) string {
	if strings.IndexFunc(text, isHarmful) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		n := 0
		if painted {
			n = colourLength(text)
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case n > 0:
			size = n
			b.WriteString(text[:n])
		case !isHarmful(r) && (r != utf8.RuneError || size > 1), strings.HasPrefix(text, "\r\n"):
			b.WriteString(text[:size])
		default:
			quoted := strconv.QuoteToASCII(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}

// isHarmful reports whether a terminal might do something else than show a character.
func isHarmful(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// colourLength returns the length of the colour that text begins with, 0 if it begins with none.
func colourLength(text string) int {
	for _, colour := range [...]string{Red, Green, Yellow, Dim, Reverse, "0"} {
		if sequence := "\x1b[" + colour + "m"; strings.HasPrefix(text, sequence) {
			return len(sequence)
		}
	}
	return 0
}

// Errorf prints to Err.
func (t *Terminal) Errorf(format string, args ...any) {
	_, _ = io.WriteString(t.Err, harmless(fmt.Sprintf(format, args...), t.Colour))
}

// printJSON prints a value on a line of its own, with the control characters escaped that JSON could have as they are.
func printJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.String()
	if strings.IndexFunc(text, isHarmful) >= 0 {
		text = escapeJSON(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// escapeJSON escapes what stands in texts: there is no place for it anywhere else.
func escapeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if isHarmful(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
