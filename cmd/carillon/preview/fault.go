package preview

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// fault is one problem of the input.
type fault struct {
	text string // the problem
	hint string // suggestion; may be empty

	source string // the text of the schedule in which it is wrong; empty if there is nothing to point at
	column int    // where in it, in characters from 1

	cause error // a mistake on the command line, or a file that cannot be read; nil: the schedule is not in order
}

// misuse is a fault of the command line rather than of the schedule.
func misuse(text, hint string) fault {
	return fault{text: text, hint: hint, cause: terminal.Usage(errPreview)}
}

// faultsOf returns the problems in the text of a schedule. where is the prefix of each message.
func faultsOf(where, source string, err error) (faults []fault) {
	for _, one := range terminal.Split(err) {
		f := fault{text: where + one.Error()}
		if wrong, ok := errors.AsType[*spec.SyntaxError](one); ok {
			words := *wrong
			words.Hint = ""
			f = fault{text: where + words.Error(), hint: wrong.Hint, source: source, column: wrong.Column}
		}
		faults = append(faults, f)
	}
	return faults
}

// errPreview ends a preview whose faults are printed.
var errPreview = errors.New("the schedule has problems")

// refuse prints faults and returns the error that ends the process.
func refuse(t *terminal.Terminal, faults []fault) error {
	said := map[string]bool{}
	failures := make([]error, len(faults))
	for i, f := range faults {
		if errors.Is(f.cause, context.Canceled) {
			return f.cause
		}
		failures[i] = &terminal.Failure{Message: f.text, Hint: f.hint, Err: cmp.Or(f.cause, errPreview)}
		if t.JSON {
			continue
		}
		for line := range strings.Lines(f.text) {
			t.Complain("error", strings.TrimSuffix(line, "\n"))
		}
		if f.column > 0 {
			text, caret := excerpt(f.source, f.column)
			t.Errorf("    %s\n    %s\n", text, caret)
		}
		if f.hint != "" && !said[f.hint] {
			said[f.hint] = true
			t.Complain("hint", f.hint)
		}
	}
	return terminal.Reported(failures...)
}

// maxExcerpt is how many characters of a long text are shown.
const maxExcerpt = 100

// excerpt returns the line of a text that contains the column, and a line with a caret below it. The column
// counts characters of the whole text from 1, and can be one behind the last.
func excerpt(text string, column int) (line, caret string) {
	runes := []rune(text)
	at := min(column-1, len(runes))
	begin, end := at, at
	for begin > 0 && !newline(runes[begin-1]) {
		begin--
	}
	for end < len(runes) && !newline(runes[end]) {
		end++
	}
	before, after := "", ""
	if end-begin > maxExcerpt {
		if from := at - maxExcerpt/2; from > begin {
			begin, before = from, "…"
		}
		if to := begin + maxExcerpt; to < end {
			end, after = to, "…"
		}
	}
	indent := cells(before)
	for _, r := range runes[begin:at] {
		indent += cells(printable(r))
	}
	var b strings.Builder
	for _, r := range runes[begin:end] {
		b.WriteString(printable(r))
	}
	return strings.TrimRight(before+b.String()+after, " "), strings.Repeat(" ", indent) + "^"
}

func newline(r rune) bool { return r == '\n' || r == '\r' }

// printable returns a character for an excerpt: a blank for characters that are invisible or move the cursor.
func printable(r rune) string {
	if !unicode.IsPrint(r) {
		return " "
	}
	return string(r)
}

// cells returns how many columns of a terminal a text takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		case r >= 0x1100 && unicode.In(r, wide):
			n += 2
		default:
			n++
		}
	}
	return n
}

// wide are the characters that take two columns, near enough: East Asian letters, full-width forms, pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115F, 1},
		{0x2E80, 0xA4CF, 1},
		{0xAC00, 0xD7A3, 1},
		{0xF900, 0xFAFF, 1},
		{0xFE30, 0xFE6F, 1},
		{0xFF00, 0xFF60, 1},
		{0xFFE0, 0xFFE6, 1},
	},
	R32: []unicode.Range32{{0x1F300, 0x1FAFF, 1}, {0x20000, 0x3FFFD, 1}},
}
