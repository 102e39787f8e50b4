// Package words is the catalogue of the console's texts. Each line of the files in en is a key, an equals sign and the
// English text. A line that begins with # is a comment. A \ at the end of a line continues it in the next. Every other
// language is one file with the same keys, such as de.txt.
//
// A text may have the verbs of package fmt for its arguments. A text with a bar has a singular and a plural: [Count]
// uses the part before the bar of "one job|%d jobs" for 1.
//
// [Text] returns a text, [Count] a text for a number and [Date] a date. A missing key returns itself. A duplicate key is
// a defect and panics at the start of the program.
package words

import (
	"embed"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

//go:embed en *.txt
var files embed.FS

// English is the language without [Use].
const English = "en"

var (
	texts = read("en/*")

	// names replaces the English names of months and weekdays in dates.
	names = strings.NewReplacer()
)

// Languages returns the languages of [Use], sorted.
func Languages() []string {
	all := []string{English}
	found, _ := fs.Glob(files, "*.txt") // the pattern is right
	for _, name := range found {
		all = append(all, strings.TrimSuffix(name, ".txt"))
	}
	return slices.Sorted(slices.Values(all))
}

// Use selects one of the [Languages] for the whole process. Call it before the other functions of the package.
func Use(language string) {
	if language == English {
		return
	}
	english := strings.Fields(Text(dateNames))
	if texts = read(language + ".txt"); len(texts) == 0 {
		panic("console: unknown language " + language)
	}
	var pairs []string
	for i, name := range strings.Fields(Text(dateNames)) {
		pairs = append(pairs, english[i], name)
	}
	names = strings.NewReplacer(pairs...)
}

// dateNames is the key of the names of months and weekdays, in full and in short.
const dateNames = "date.names"

// Date formats a time by a layout of [time.Time.Format], with the names of the language.
func Date(t time.Time, layout string) string { return names.Replace(t.Format(layout)) }

// Text returns the text of a key with its arguments. A missing key returns itself; the tests of the sections detect that.
func Text(key string, args ...any) string {
	text, ok := texts[key]
	if !ok {
		return key
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Count returns the text of a key for a whole number of any type. The text has %d or %s in place of the number.
func Count(key string, n any) string {
	one, many, _ := strings.Cut(Text(key), "|")
	digits := Number(n)
	if digits == "1" {
		return one
	}
	return fmt.Sprintf(strings.ReplaceAll(many, "%d", "%s"), digits)
}

// Number formats a number with narrow spaces between its thousands.
func Number(n any) string {
	sign, digits := "", fmt.Sprint(n)
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

// Keys returns all keys, sorted.
func Keys() iter.Seq[string] { return slices.Values(slices.Sorted(maps.Keys(texts))) }

// read parses the files that match a pattern. It panics on an error, because they are embedded.
func read(pattern string) map[string]string {
	all := map[string]string{}
	found, _ := fs.Glob(files, pattern) // the pattern is right
	for _, name := range found {
		data, err := files.ReadFile(name)
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
				panic(fmt.Sprintf("console: words of %s: %q", name, line))
			}
			all[key] = strings.TrimSpace(text)
		}
	}
	return all
}
