package jobfile

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// Line is a line of a document that was changed.
type Line struct {
	Mark byte // '+': it is new; '-': it was there; ' ': it stays; '~': lines are left out
	Text string
}

// nearLines is how many lines that stay are shown around those that change.
const nearLines = 2

// Diff compares two JSON documents, nil for none, by the lines that they have as YAML, and leaves out what is far from a
// change. It is empty when they are the same.
func Diff(before, after []byte) []Line {
	return around(compare(linesOf(before), linesOf(after)))
}

// linesOf returns the lines of a document as YAML.
func linesOf(doc []byte) []string {
	if len(doc) == 0 {
		return nil
	}
	text, err := yaml.JSONToYAML(doc)
	if err != nil {
		return []string{string(doc)}
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// compare returns all lines, by the longest sequence that both have in common.
func compare(a, b []string) []Line {
	common := make([][]int, len(a)+1) // the length for a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, line := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); line == other {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var lines []Line
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, Line{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, Line{'-', a[i]})
			i++
		default:
			lines = append(lines, Line{'+', b[j]})
			j++
		}
	}
	return lines
}

// around keeps the lines that change and those near them.
func around(all []Line) []Line {
	var lines []Line
	for i, l := range all {
		near := false
		for k := max(0, i-nearLines); k <= min(len(all)-1, i+nearLines); k++ {
			near = near || all[k].Mark != ' '
		}
		switch {
		case near:
			lines = append(lines, l)
		case len(lines) > 0 && lines[len(lines)-1].Mark != '~':
			lines = append(lines, Line{'~', ""})
		}
	}
	if n := len(lines); n > 0 && lines[n-1].Mark == '~' {
		lines = lines[:n-1]
	}
	return lines
}
