package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"
)

// terminal is where a command reads from and writes to. What a command was
// asked for goes to out, all else to err, so that out can be piped.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	lookup   func(name string) (string, bool) // the environment

	json   bool // out is for programs
	colour bool
	helped bool // help was printed, and nothing else is to be done
}

// system is the terminal of the process.
func system() *terminal {
	_, plain := os.LookupEnv("NO_COLOR")
	return &terminal{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, lookup: os.LookupEnv,
		colour: !plain && isTerminal(os.Stdout) && os.Getenv("TERM") != "dumb",
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// The colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

// paint colours text, if that is wanted.
func (t *terminal) paint(colour, text string) string {
	if !t.colour || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// printf prints to out.
func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// printJSON prints a value on a line of its own.
func (t *terminal) printJSON(v any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// list is a whole list for programs, in the shape of a page of the API.
type list[T any] struct {
	NextLink *string `json:"nextLink"` // none follows
	Value    []T     `json:"value"`
}

// table prints rows in columns under a heading.
func (t *terminal) table(heading []string, rows [][]string) error {
	w := tabwriter.NewWriter(t.out, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), "\t"))
	}
	return w.Flush()
}
