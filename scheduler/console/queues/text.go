package queues

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// visible returns a text in which control characters, and those that change the direction of what is around them, can be seen.
// What is no UTF-8 becomes the sign for that. Line ends and tabs stay.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r == '\r':
			b.WriteRune('␍')
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		}
	}
	return strings.ReplaceAll(b.String(), "␍\n", "\n")
}

// invisible are spaces without a width, and ends of lines and paragraphs that browsers pass over.
const invisible = "\u200b\u200c\u200d\ufeff\u2028\u2029"

// hidden reports whether a character has no look of its own.
func hidden(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune(invisible, r)
}

// short returns the beginning of a text, in one line.
func short(s string, most int) string {
	s = visible(strings.Join(strings.Fields(cut(s, 4*most)), " "))
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + "…"
}

// cut returns the beginning of a text, which does not end within a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// length tells a length of time in plain words: its two largest units.
func length(d time.Duration) string {
	units := []struct {
		key string
		of  time.Duration
	}{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}}
	var parts []string
	for _, u := range units {
		if n := d / u.of; n > 0 && len(parts) < 2 {
			parts = append(parts, words.Count("queues.length."+u.key, int(n)))
			d %= u.of
		}
	}
	if len(parts) == 0 {
		return d.String()
	}
	return strings.Join(parts, " ")
}

// What follows is how templates show what others have written.

// Label is the name of the property.
func (p Property) Label() string { return visible(p.Name) }

// Shown is its value, or the beginning of it.
func (p Property) Shown() string { return visible(cut(p.Value, maxProperty)) }

// maxProperty is how much of a property is shown.
const maxProperty = 8 << 10

// ID is the message's id.
func (m Message) ID() string { return visible(m.MessageID) }

// Session is that of the message.
func (m Message) Session() string { return visible(m.SessionID) }

// About is the subject, which is also called label.
func (m Message) About() string { return visible(m.Subject) }

// Why is the reason of a dead letter.
func (m Message) Why() string { return visible(m.Reason) }

// Because is the description of that.
func (m Message) Because() string { return visible(cut(m.Description, maxProperty)) }

// Told is the expression.
func (r Rule) Told() string { return visible(r.Expression) }

// Does is the action.
func (r Rule) Does() string { return visible(r.Action) }

// Asked is the question's text.
func (q Question) Asked() string { return visible(q.Text) }

// From is the value before.
func (c Change) From() string { return visible(c.Before) }

// To is the value afterwards.
func (c Change) To() string { return visible(c.After) }

// Of is the property that changes.
func (c Change) Of() string { return visible(c.Property) }
