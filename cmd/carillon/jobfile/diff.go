package jobfile

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Line is a line of a document that was changed.
type Line struct {
	Mark byte // '+': it is new; '-': it was there; ' ': it stays; '~': lines are left out
	Text string
}

// Diff compares two JSON documents, nil for none, by the lines that they have as YAML for people, and leaves out what is
// far from a change. It is empty when they are the same.
func Diff(before, after []byte) []Line {
	const heading = 3 // lines that name the texts, which have no names
	var lines []Line
	for i, text := range strings.Split(string(diff.Diff("", yamlOf(before), "", yamlOf(after))), "\n") {
		switch {
		case i < heading, text == "", i == heading: // the first place needs no mark
		case text[0] == '@':
			lines = append(lines, Line{'~', ""})
		default:
			lines = append(lines, Line{text[0], text[1:]})
		}
	}
	return lines
}

// yamlOf is a document as YAML, as it is when it is none.
func yamlOf(doc []byte) []byte {
	if len(doc) == 0 {
		return nil
	}
	v, err := document.Parse(doc)
	if err != nil {
		return append(doc, '\n')
	}
	return v.YAML()
}
