package terminal

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"text/tabwriter"

	"github.com/nats-io/nats.go"
	"golang.org/x/term"
)

// Terminal is where a command reads from and writes to.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer                        // results; everything else
	Lookup   func(name string) (string, bool) // the environment, as [os.LookupEnv]

	Version string // of this program

	// Missing returns the error about the collection of a job that does not exist, nil if the collection does. Default: none.
	Missing func(error) error

	// Suggest returns a hint for an error about a name that does not exist, "" for none. Default: none.
	Suggest func(error) string

	JSON   bool // Out is for programs
	UTC    bool // times are shown in UTC
	Colour bool // Out shows colours
	Helped bool // help was printed; nothing else to do

	lines *bufio.Reader // of In, once something was asked
	lent  atomic.Bool   // to another program, such as an editor
}

// System is the terminal of the process.
func System() *Terminal {
	_, plain := os.LookupEnv("NO_COLOR")
	return &Terminal{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Lookup: os.LookupEnv,
		Colour: !plain && isTerminal(os.Stdout) && os.Getenv("TERM") != "dumb",
	}
}

// isTerminal reports whether a person may be at the other end of a reader or a writer.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

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
	_, _ = io.WriteString(t.Out, sanitize(fmt.Sprintf(format, args...), t.Colour)) // a reader that has gone learns nothing more
}

// PrintJSON prints a value on one line.
func (t *Terminal) PrintJSON(v any) error { return printJSON(t.Out, v) }

// List is a whole list for programs, in the shape of a page of the API.
type List[T any] struct {
	NextLink *string `json:"nextLink"` // none follows
	Value    []T     `json:"value"`
}

// ListOf returns a list with a document for each item.
func ListOf[T, D any](items []T, document func(T) D) List[D] {
	return List[D]{Value: All(items, document)}
}

// All returns what of returns for each item.
func All[T, V any](items []T, of func(T) V) []V {
	all := make([]V, len(items))
	for i, item := range items {
		all[i] = of(item)
	}
	return all
}

// Table prints rows in columns under a heading.
func (t *Terminal) Table(heading []string, rows [][]string) error {
	w, plain := tabwriter.NewWriter(t.Out, 0, 0, 3, ' ', 0), strings.NewReplacer("\n", " ", "\t", " ")
	for _, row := range append([][]string{heading}, rows...) {
		cells := All(row, func(cell string) string { return sanitize(plain.Replace(cell), t.Colour) })
		fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t"))
	}
	return w.Flush()
}

// PrintList prints items: as a [List] for programs, as a table for people, or as the hint none if the list is empty. Without a
// hint, an empty list is the heading alone. It returns err, without a list.
func PrintList[T any](t *Terminal, items []T, err error, none string, heading []string, row func(T) []string) error {
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(List[T]{Value: append([]T{}, items...)})
	case len(items) == 0 && none != "":
		t.Complain("hint", none)
		return nil
	}
	return t.Table(heading, All(items, row))
}

// PrintOne prints a result: as JSON for programs, by show for people. It returns err, without a result.
func PrintOne[T any](t *Terminal, v T, err error, show func(T)) error {
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(v)
	}
	show(v)
	return nil
}

// Interactive reports whether a person looks at Out.
func (t *Terminal) Interactive() bool { return isTerminal(t.Out) }

// Watched reports whether a person looks at Err.
func (t *Terminal) Watched() bool { return isTerminal(t.Err) }

// Width returns the columns of Out: from the environment, else from the terminal, else 80.
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

// Input returns In for the duration of ctx: when ctx ends, a waiting reader immediately gets its cause. It is
// nil without In.
func (t *Terminal) Input(ctx context.Context) io.Reader {
	if t.In == nil {
		return nil
	}
	return readerFunc(func(p []byte) (int, error) { return read(ctx, t.In, p) })
}

// ReadArgument returns the content of the file that a flag or an argument names, up to most bytes. The file - is standard input.
// Errors begin with what, the name of the flag or argument.
func (t *Terminal) ReadArgument(ctx context.Context, what, path string, most int64) ([]byte, error) {
	in := t.Input(ctx)
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, Usagef("%s: %s: %w", what, path, WithoutPath(err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, WithoutPath(err))
	}
	return data, nil
}

// readerFunc is a function that reads.
type readerFunc func(p []byte) (int, error)

// Read calls it.
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// read reads until ctx ends.
func read(ctx context.Context, in io.Reader, p []byte) (int, error) {
	own, err := Await(ctx, func() ([]byte, error) {
		own := make([]byte, len(p)) // p is the caller's again when read returns
		n, err := in.Read(own)
		return own[:n], err
	})
	return copy(p, own), err
}

// Await returns the result of do, or the cause of ctx's end if that comes first. do may then block until the process ends.
func Await[T any](ctx context.Context, do func() (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	came := make(chan result, 1)
	go func() {
		value, err := do()
		came <- result{value, err}
	}()
	select {
	case r := <-came:
		return r.value, r.err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}

// Lend lets another program use the terminal during do. That program handles Ctrl-C.
func (t *Terminal) Lend(do func() error) error {
	t.lent.Store(true)
	defer t.lent.Store(false)
	return do()
}

// Lent reports whether another program has the terminal.
func (t *Terminal) Lent() bool { return t.lent.Load() }

// TLSHint says what to do about a connection that TLS does not allow; "" for any other error.
func TLSHint(err error) string {
	if is[x509.UnknownAuthorityError](err) {
		return "name the authorities of the server's certificate with --ca-file, CARILLON_CA_FILE, " +
			`or once with "carillon context set NAME --ca-file FILE"`
	}
	if is[x509.HostnameError](err) {
		return "name the server as its certificate does"
	}
	if is[x509.CertificateInvalidError](err) {
		return "the server needs a new certificate, unless the clock of this machine is wrong"
	}
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "remote error" /* an alert of TLS */ || errors.Is(err, nats.ErrTLS) /* or no time for it */ {
		return "the server does not take the client certificate, or asks for one: show one of an authority that it trusts with " +
			"--cert-file and --key-file"
	}
	return ""
}

// Logging are the logging flags of a scheduler.
type Logging struct {
	LogLevel  logLevel `help:"Minimum log level on stderr: debug, info, warn, error." env:"CARILLON_LOG_LEVEL" default:"${loglevel}" placeholder:"LEVEL" live:""`
	LogFormat string   `help:"Format of the log: text or json." enum:"text,json" env:"CARILLON_LOG_FORMAT" default:"text" placeholder:"FORMAT"`
}

// logLevel is a level as it is written on the command line.
type logLevel slog.Level

// UnmarshalText reads a name, in any letter case.
func (l *logLevel) UnmarshalText(text []byte) error {
	if err := (*slog.Level)(l).UnmarshalText(text); err != nil {
		return fmt.Errorf("%q is not one of debug, info, warn, error", text)
	}
	return nil
}

// String returns the name, in lower case.
func (l logLevel) String() string { return strings.ToLower(slog.Level(l).String()) }

// Level returns the minimum level of log messages.
func (l Logging) Level() slog.Level { return slog.Level(l.LogLevel) }

// Logger returns a logger that writes to w as the flags say.
func (l Logging) Logger(w io.Writer) *slog.Logger { return l.LoggerFrom(w, l.Level()) }

// LoggerFrom is [Logging.Logger] with a least level that may change.
func (l Logging) LoggerFrom(w io.Writer, least slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: least}
	if l.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Asks reports whether a person can answer questions.
func (t *Terminal) Asks() bool { return isTerminal(t.In) }

// Ask prints a question on stderr and returns the line that is typed, without the space around it. An interrupt while
// it waits is the error.
func (t *Terminal) Ask(ctx context.Context, question string) (string, error) {
	t.Errorf("%s", question)
	if t.lines == nil {
		t.lines = bufio.NewReader(t.In)
	}
	text, err := Await(ctx, func() (string, error) { return t.lines.ReadString('\n') })
	if ctx.Err() != nil {
		fmt.Fprintln(t.Err)
	}
	text = strings.TrimSpace(text)
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	return text, err
}

// Confirm asks whether to do something, which is not done unless the answer is yes.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	answer, err := t.Ask(ctx, question+" [y/N] ")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"), err
}
