// Package table has lists whose columns are built in Go. The template "table" of the frame shows them on pages,
// and [List.Export] sends them as files.
package table

import (
	"slices"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/words"
)

// A Column is a column of a list of T.
type Column[T any] struct {
	Label string // key of its heading
	Class string // of its cells: number, or wide-only. Default: none
	Cell  func(T) Cell
}

// A Cell is a value of an item.
type Cell struct {
	Text  string
	Link  string    // the target of the text. Default: none
	Mark  string    // the state whose mark precedes the text. Default: none
	Time  time.Time // in place of the text. Default: none
	Class string    // set by [New]
}

// Text returns a column with plain texts.
func Text[T any](label, class string, of func(T) string) Column[T] {
	return Column[T]{label, class, func(item T) Cell { return Cell{Text: of(item)} }}
}

// Time returns a column with times. A zero time is an empty cell.
func Time[T any](label, class string, of func(T) time.Time) Column[T] {
	return Column[T]{label, class, func(item T) Cell { return Cell{Time: of(item)} }}
}

// A Table is a list for the template "table".
type Table struct {
	Heads []Cell
	Rows  [][]Cell
	Empty string // the text for no rows
	Older string // URL of the next page. Default: none
	Files *Files // Default: none
}

// New returns a table of items. The text empty replaces a table without rows.
func New[T any](columns []Column[T], items []T, empty string) *Table {
	t := &Table{Empty: empty}
	for _, column := range columns {
		t.Heads = append(t.Heads, Cell{Text: words.Text(column.Label), Class: column.Class})
	}
	for _, item := range items {
		row := make([]Cell, len(columns))
		for i, column := range columns {
			row[i] = column.Cell(item)
			row[i].Class = column.Class
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Without returns columns without some, by their labels.
func Without[T any](columns []Column[T], labels ...string) []Column[T] {
	return slices.DeleteFunc(slices.Clone(columns), func(one Column[T]) bool { return slices.Contains(labels, one.Label) })
}
