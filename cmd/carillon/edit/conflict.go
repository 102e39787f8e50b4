package edit

import (
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Lost returns which changes of somebody else's would be lost with mine, because these touch them. A list counts as one, as
// a patch replaces it whole.
func Lost(mine, theirs []document.Change) (lost []document.Change) {
	for _, c := range theirs {
		if slices.ContainsFunc(mine, func(own document.Change) bool { return touches(own.Path, c.Path) }) {
			lost = append(lost, c)
		}
	}
	return lost
}

// touches reports whether one of two paths is the other, or inside it.
func touches(a, b string) bool {
	a, _, _ = strings.Cut(a, "[")
	b, _, _ = strings.Cut(b, "[")
	return strings.HasPrefix(a+".", b+".") || strings.HasPrefix(b+".", a+".")
}

// Lines tells changes, each on a line.
func Lines(changes []document.Change) []string {
	show := func(text []byte) string {
		if text == nil {
			return "nothing"
		}
		return string(text)
	}
	var lines []string
	for _, c := range changes {
		line := c.Path + ": " + show(c.Before) + " -> " + show(c.After)
		if c.Secret {
			line = c.Path + ": a secret"
		}
		lines = append(lines, line)
	}
	return lines
}
