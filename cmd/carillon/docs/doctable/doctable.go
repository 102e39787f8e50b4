// Package doctable keeps tables of the documentation equal to the code.
package doctable

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated tables of the pages")

// Check compares the first table below a heading of a page with rows. The first row is the table's header. A row
// with fewer cells than the header keeps the hand-written cells of the page's row with the same first cell, which
// must not all be empty. With -update, Check writes the table. It returns all rows.
func Check(t *testing.T, page, heading string, rows [][]string) [][]string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	before, after, ok := strings.Cut("\n"+text+"\n", "\n"+heading+"\n")
	start, old, found := strings.Cut(after, "\n| ")
	old, rest, ended := strings.Cut(old, "\n\n")
	if !ok || !found || !ended {
		t.Fatalf("%s: %q must precede a table", page, heading)
	}
	written := cells("| " + old)
	for i, row := range rows {
		if rows[i] = row; len(row) == len(rows[0]) {
			continue
		}
		at := slices.IndexFunc(written, func(w []string) bool { return w[0] == row[0] && len(w) == len(rows[0]) })
		own := make([]string, len(rows[0])-len(row))
		if at >= 0 {
			own = written[at][len(row):]
		}
		if strings.Join(own, "") == "" {
			t.Errorf("%s: the row of %s needs a text in column %q; -update adds a missing row", page, row[0], rows[0][len(rows[0])-1])
		}
		rows[i] = slices.Concat(row, own)
	}
	got := before + "\n" + heading + "\n" + start + "\n" + format(rows) + "\n" + rest
	got = got[1 : len(got)-1] // without the line breaks added above
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if diff := cmp.Diff(text, got); diff != "" {
		t.Errorf("run go test with -run %s -update (-page +code)\n%s", t.Name(), diff)
	}
	return rows
}

// cells splits the rows of a table.
func cells(table string) (rows [][]string) {
	for line := range strings.Lines(table) {
		var row []string
		for cell := range strings.SplitSeq(strings.ReplaceAll(strings.Trim(line, "|\n"), `\|`, "\x00"), "|") {
			row = append(row, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", `\|`)))
		}
		rows = append(rows, row)
	}
	return rows
}

// format aligns the rows of a table. The first row is its header.
func format(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, row := range rows {
		for i, cell := range row {
			b.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	return b.String()
}
