package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"golang.org/x/term"
)

// Terminal is where a command reads from and writes to.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer                        // what a command was asked for; all else
	Lookup   func(name string) (string, bool) // the environment, as [os.LookupEnv]

	Version string // of this program

	// Missing returns the error about the collection of a job that does not exist, nil if the collection does. Default: none.
	Missing func(error) error

	// Suggest returns a hint for an error about a name that does not exist, "" for none. Default: none.
	Suggest func(error) string

	JSON   bool // Out is for programs
	UTC    bool // times are shown in UTC
	Colour bool // Out shows colours
	Helped bool // help was printed, and nothing else is to be done

	lines *bufio.Reader // of In, once something was asked
	lent  atomic.Bool   // to another program, such as an editor
}

// System is the terminal of the process.
func System() *Terminal {
	_, plain := os.LookupEnv("NO_COLOR")
	return &Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv,
		Colour: !plain && IsTerminal(os.Stdout) && os.Getenv("TERM") != "dumb",
	}
}

// IsTerminal reports whether a person may be at the other end of a file.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// The colours of a terminal.
const (
	Red     = "31"
	Green   = "32"
	Yellow  = "33"
	Dim     = "2"
	Reverse = "7" // video
)

// Paint colours text, if that is wanted.
func (t *Terminal) Paint(colour, text string) string {
	if !t.Colour || colour == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// Printf prints to Out.
func (t *Terminal) Printf(format string, args ...any) {
	_, _ = io.WriteString(t.Out, harmless(fmt.Sprintf(format, args...), t.Colour)) // a reader that has gone learns nothing more
}

// PrintJSON prints a value on a line of its own.
func (t *Terminal) PrintJSON(v any) error { return printJSON(t.Out, v) }

// List is a whole list for programs, in the shape of a page of the API.
type List[T any] struct {
	NextLink *string `json:"nextLink"` // none follows
	Value    []T     `json:"value"`
}

// Table prints rows in columns under a heading.
func (t *Terminal) Table(heading []string, rows [][]string) error {
	w := tabwriter.NewWriter(t.Out, 0, 0, 3, ' ', 0)
	for _, row := range append([][]string{heading}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = harmless(strings.NewReplacer("\n", " ", "\t", " ").Replace(cell), t.Colour)
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return w.Flush()
}

// Interactive reports whether a person looks at Out.
func (t *Terminal) Interactive() bool {
	f, ok := t.Out.(*os.File)
	return ok && IsTerminal(f)
}

// Watched reports whether a person looks at Err.
func (t *Terminal) Watched() bool {
	f, ok := t.Err.(*os.File)
	return ok && IsTerminal(f)
}

// Width is how many columns Out has: those that the environment says, those of the terminal, or 80.
func (t *Terminal) Width() int {
	if text, ok := t.Lookup("COLUMNS"); ok {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			return n
		}
	}
	if f, ok := t.Out.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}
