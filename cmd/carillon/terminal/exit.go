package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/store"
	"github.com/carillon-sched/carillon/store/conn"
	"github.com/carillon-sched/carillon/store/embedded"
)

// The exit codes. A usage error is found without reading a file or contacting a server, except for a file that
// cannot be read.
const (
	ExitOK          = 0
	ExitFailure     = 1   // refused input, or anything else that went wrong
	ExitUsage       = 2   // the command line: an unknown word, a malformed value, a file that cannot be read
	ExitNotFound    = 3   // the named object does not exist
	ExitConflict    = 4   // the current or stored state does not allow it
	ExitUnavailable = 5   // a scheduler, a NATS server, a port or a directory that cannot be had
	ExitInterrupted = 130 // Ctrl-C
)

// ExitCode is the code that a command's error ends the process with.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case is[*usageError](err):
		return ExitUsage
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.Is(err, scheduler.ErrNotFound):
		return ExitNotFound
	case errors.Is(err, scheduler.ErrConflict), errors.Is(err, scheduler.ErrPrecondition):
		return ExitConflict
	case errors.Is(err, scheduler.ErrUnavailable), is[*unavailableError](err), is[*store.SettingError](err),
		is[*embedded.PortError](err), is[*embedded.DirError](err), is[*embedded.InUseError](err), is[*embedded.StartError](err):
		return ExitUnavailable
	}
	return ExitFailure
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// Fail prints an error with its hints, for programs as one JSON object, and returns the exit code.
func (t *Terminal) Fail(err error) int {
	code := ExitCode(err)
	switch {
	case err == nil, code == ExitInterrupted:
		return code
	case t.JSON:
		t.failJSON(err, code)
		return code
	}
	if !is[*reportedError](err) {
		for line := range strings.Lines(err.Error()) {
			t.Complain("error", strings.TrimSuffix(line, "\n"))
		}
	}
	if hint := t.HintOf(err); hint != "" && !hintTold(err) {
		t.Complain("hint", hint)
	}
	return code
}

// hintTold reports whether the hint of an error was printed with the lines that people have read already.
func hintTold(err error) bool {
	h, hinted := errors.AsType[*hintedError](err)
	return is[*reportedError](err) && (!hinted || !is[*reportedError](h))
}

// Complain prints a line for people on stderr. Programs get errors from [Terminal.Fail] alone, and other lines as a JSON
// object.
func (t *Terminal) Complain(kind, text string) {
	switch {
	case !t.JSON:
		t.Errorf("carillon: %s: %s\n", kind, text)
	case kind != "error":
		_ = printJSON(t.Err, map[string]any{kind: map[string]string{"message": text}})
	}
}

// HintOf is the hint for an error. A hint that the terminal suggests for a name that does not exist comes before others.
func (t *Terminal) HintOf(err error) string {
	if t.Suggest != nil && errors.Is(err, scheduler.ErrNotFound) && !is[*reportedError](err) {
		if hint := t.Suggest(err); hint != "" {
			return hint
		}
	}
	return Hint(err)
}

// Hint returns the hint that comes with an error, or one for its kind; "" for none.
func Hint(err error) string {
	if h, ok := errors.AsType[*hintedError](err); ok {
		return h.hint
	}
	if e, ok := errors.AsType[*store.SettingError](err); ok {
		return settingHint(e)
	}
	if hint := TLSHint(err); hint != "" {
		return hint
	}
	switch {
	case is[*client.UnsupportedError](err):
		return "leave out --nats-url, and name the address of the REST API with --server"
	case is[*client.UnreachableError](err):
		return `start a scheduler with "carillon dev", or name its address with --server or CARILLON_SERVER`
	case answered(err, http.StatusUnauthorized):
		return `give a token in CARILLON_TOKEN, or keep it with "carillon context set NAME --server URL --token-file FILE"; ` +
			`"carillon token create --help" explains how to get one; if the server accepts client certificates, set --cert-file`
	case answered(err, http.StatusServiceUnavailable):
		return `"carillon health" shows whether the scheduler is ready, or the reason; "carillon docs recover" lists the remedies`
	case answered(err, http.StatusForbidden):
		return `ask an admin for a token with that role, "carillon token create --help"; over NATS, ` +
			`the server's operator for the permissions, "carillon nats permissions --help"`
	case is[*embedded.PortError](err):
		return "another program uses that port, perhaps a second carillon; choose one with --nats, port 0 takes any free one"
	case is[*embedded.InUseError](err):
		return "end that process, or choose another directory with --data"
	case is[*embedded.DirError](err):
		return dirHint(err)
	case errors.Is(err, syscall.EMFILE):
		return FilesHint
	}
	return ""
}

// FilesHint says what to do about too few files.
const FilesHint = "raise the limit of open files, such as with: ulimit -n 4096"

// dirHint says what to do about a data directory that cannot be used.
func dirHint(err error) string {
	const other = "choose another directory with --data"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space there, or " + other
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "make it writable, or " + other
	case errors.Is(err, syscall.EMFILE):
		return FilesHint
	}
	return other
}

// answered reports whether the server, or a proxy before it, answered with a status.
func answered(err error, status int) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Status == status
}

// settingHint says where a setting of the store is made.
func settingHint(e *store.SettingError) string {
	switch e.Setting {
	case conn.ServerSetting:
		return "the log of the NATS server says more; free some space there, or see its limits of open files and of storage"
	case "jetstream", "permissions":
		return "this is a setting of the NATS server"
	case conn.DataSetting:
		return `"carillon version" prints this version; another version needs another data directory`
	}
	return "the setting is --" + e.Setting
}

// sanitize returns text that is safe for a terminal. Jobs and targets control their texts, and a terminal obeys
// control characters, so sanitize escapes these and changes of the writing direction. It keeps line breaks, tabs
// and, with painted, the colors of [Terminal.Paint].
func sanitize(text string, painted bool) string {
	if strings.IndexFunc(text, isHarmful) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for text != "" {
		n := 0
		if painted {
			n = colourLength(text)
		}
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case n > 0:
			size = n
			b.WriteString(text[:n])
		case !isHarmful(r) && (r != utf8.RuneError || size > 1), strings.HasPrefix(text, "\r\n"):
			b.WriteString(text[:size])
		default:
			quoted := strconv.QuoteToASCII(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}

// isHarmful reports whether a terminal might do something else than show a character.
func isHarmful(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// colourLength returns the length of the colour that text begins with, 0 if it begins with none.
func colourLength(text string) int {
	for _, colour := range [...]string{Red, Green, Yellow, Dim, Reverse, "0"} {
		if sequence := "\x1b[" + colour + "m"; strings.HasPrefix(text, sequence) {
			return len(sequence)
		}
	}
	return 0
}

// Errorf prints to Err.
func (t *Terminal) Errorf(format string, args ...any) {
	_, _ = io.WriteString(t.Err, sanitize(fmt.Sprintf(format, args...), t.Colour))
}

// printJSON prints a value on one line. It also escapes the control characters that JSON permits.
func printJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	text := b.String()
	if strings.IndexFunc(text, isHarmful) >= 0 {
		text = escapeJSON(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// escapeJSON escapes characters in strings; they cannot occur elsewhere.
func escapeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		if isHarmful(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
