// Package words has all texts of the console, in English. Each line of the files in en is a key, an equals sign and the
// text; a line that begins with # is a comment, and one that ends with \ goes on in the next.
//
// A text may have the verbs of package fmt for its arguments. One with a bar is for numbers: "one job|%d jobs" is said by
// [Count], which takes what stands before the bar for 1.
package words

import (
	"embed"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

//go:embed en
var files embed.FS

var texts = read()

// Say returns the text of a key, with its arguments in it. A key that does not exist is its own text; tests of the rooms
// find those.
func Say(key string, args ...any) string {
	text, ok := texts[key]
	if !ok {
		return key
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Count returns the text of a key for a number of things, of any kind of whole number. The text has %d, or %s, where the number
// is to stand.
func Count(key string, n any) string {
	one, many, _ := strings.Cut(Say(key), "|")
	digits := fmt.Sprint(n)
	if digits == "1" {
		return one
	}
	return fmt.Sprintf(strings.ReplaceAll(many, "%d", "%s"), Thousands(digits))
}

// Thousands puts narrow spaces between the thousands of a number.
func Thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return sign + digits
}

// Has reports whether a key has a text.
func Has(key string) bool {
	_, ok := texts[key]
	return ok
}

// Keys are all keys, sorted.
func Keys() iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(texts))) }

// read reads the files. They are part of the program, so a mistake in them is one of it.
func read() map[string]string {
	all := map[string]string{}
	entries, err := files.ReadDir("en")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		data, err := files.ReadFile("en/" + e.Name())
		if err != nil {
			panic(err)
		}
		joined := strings.ReplaceAll(string(data), "\\\n", "")
		for line := range strings.Lines(joined) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			key, text, ok := strings.Cut(line, "=")
			if key = strings.TrimSpace(key); !ok || all[key] != "" {
				panic(fmt.Sprintf("console: words of %s: %q", e.Name(), line))
			}
			all[key] = strings.TrimSpace(text)
		}
	}
	return all
}
