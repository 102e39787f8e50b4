// Package edit lets people change a job or a source as text, in the editor of their choice.
package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/source"
)

// File is the text in the editor. Only its owner can read it. It stays when it is not removed.
type File struct {
	path   string
	editor string
	text   string // as it was opened last
	asked  bool   // the text begins with a question
}

const introduction = "# Save and exit the editor to apply your changes. Lines that begin with # are ignored; " +
	"an empty file changes nothing.\n"

// Create makes a file for a document with an introduction.
func Create(t *terminal.Terminal, name, text string) (*File, error) {
	text = introduction + text
	visual, _ := t.Lookup("VISUAL")
	editor, _ := t.Lookup("EDITOR")
	fallback := "vi"
	if runtime.GOOS == "windows" {
		fallback = "notepad"
	}
	f, err := os.CreateTemp("", "carillon-"+name+"-*.yaml") // of mode 0600
	if err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("edit: %w", err)
	}
	return &File{path: f.Name(), editor: cmp.Or(visual, editor, fallback), text: text}, nil
}

// Path is where the file is.
func (f *File) Path() string { return f.path }

// Open runs the editor and returns the saved text, even if the editor fails. changed reports whether it differs
// from the opened text. The editor handles Ctrl-C; if Ctrl-C ends the editor, Open reports an interrupt.
func (f *File) Open(ctx context.Context, t *terminal.Terminal) (text string, changed bool, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", f.editor+` "$@"`, "sh", f.path) //nolint:gosec // the command may contain arguments
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(f.editor), f.path)
		cmd = exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the command may contain arguments
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, t.Out, t.Err
	failed := t.Lend(cmd.Run)
	data, err := os.ReadFile(f.path)
	if err != nil {
		return "", false, fmt.Errorf("edit: %w", errors.Join(failed, err))
	}
	text, before := string(data), f.text
	f.text = text
	changed = unmarked(text) != unmarked(before) || f.asked && text != before
	f.asked = false
	return text, changed, f.reason(ctx, failed)
}

// reason says why an editor failed; nil when it did not.
func (f *File) reason(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isInterrupt(err):
		return context.Canceled
	}
	return terminal.Hinted(fmt.Errorf("editor %s: %w", f.editor, err), "choose one with $VISUAL or $EDITOR")
}

// isInterrupt reports whether a program was ended by Ctrl-C, or its shell says so.
func isInterrupt(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return exit.ExitCode() == terminal.ExitInterrupted || ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// mark begins a line with a problem.
const mark = "#! "

// Complain replaces the problems at the top of the text.
func (f *File) Complain(problems []string) error {
	var b strings.Builder
	for _, p := range problems {
		for line := range strings.Lines(p) {
			b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	f.text = b.String() + unmarked(f.text)
	if err := os.WriteFile(f.path, []byte(f.text), 0o600); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	return nil
}

// Ask is Complain for a question: the user confirms by removing the lines.
func (f *File) Ask(lines []string) error {
	err := f.Complain(lines)
	f.asked = err == nil
	return err
}

// unmarked returns a text without its problem lines.
func unmarked(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, strings.TrimSpace(mark)) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Remove removes the file.
func (f *File) Remove() { _ = os.Remove(f.path) }

// IsEmpty reports whether a text has nothing but comments in it.
func IsEmpty(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// Lost returns the concurrent changes that mine would overwrite. A list is one value, because a patch replaces
// it completely.
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

// Lines formats changes, one per line.
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

// Apply opens the editor until put accepts the file or fails otherwise than with [scheduler.ErrInvalid], and returns its
// result. It removes the file, unless a change is lost otherwise: the error then names the file.
func (f *File) Apply(ctx context.Context, t *terminal.Terminal, put func(context.Context) (string, error)) (done string, err error) {
	done, written, err := f.until(ctx, t, put)
	if err != nil && written {
		kept := "your text is kept in " + f.path
		if errors.Is(err, context.Canceled) { // without a message
			t.Complain("hint", kept)
		}
		return "", terminal.Hinted(err, kept)
	}
	f.Remove()
	return done, err
}

// until is Apply without the removal. written: there is something in the file that was not there.
func (f *File) until(
	ctx context.Context, t *terminal.Terminal, put func(context.Context) (string, error),
) (done string, written bool, err error) {
	var wrong error // of the last save
	for {
		text, changed, err := f.Open(ctx, t)
		written = written || changed && !IsEmpty(text)
		switch {
		case err != nil:
			return "", written, err
		case IsEmpty(text), !changed && wrong == nil:
			return "unchanged", written, nil
		case !changed:
			return "", written, wrong
		}
		done, err := put(ctx)
		ask := f.Complain
		if _, ok := errors.AsType[*Question](err); ok {
			ask = f.Ask
		} else if !errors.Is(err, scheduler.ErrInvalid) {
			return done, written, err
		}
		wrong = err
		if err := ask(problemLines(err)); err != nil {
			return "", written, err
		}
	}
}

// problemLines are the problems of an error, each on a line.
func problemLines(err error) []string {
	var lines []string
	for _, p := range scheduler.ProblemsIn(err) {
		lines = append(lines, p.Error())
	}
	if len(lines) == 0 {
		return []string{err.Error()}
	}
	return lines
}

// Document returns the properties of the only document in the file, which describes the job or source k.
// [scheduler.ErrInvalid] reports an invalid document.
func (f *File) Document(r jobfile.Reader, what string, k scheduler.Key) (v document.Value, err error) {
	all, problems := r.Read([]string{f.path})
	if len(problems) > 0 {
		var found document.Problems
		for _, p := range problems {
			found = append(found, document.Problem{Path: p.Path, Message: p.Message})
		}
		return v, scheduler.AsInvalid(found)
	}
	if len(all) != 1 {
		return v, scheduler.Invalid("", fmt.Sprintf("the file has %d documents; keep one", len(all)))
	}
	isSource := what == source.Kind
	if all[0].Key != k || all[0].OfEvents != isSource {
		return v, scheduler.Invalid("name", fmt.Sprintf("a %s keeps its name, %s; apply it under another, and delete this one", what, k))
	}
	if v, err = document.Parse(all[0].Body); err != nil {
		return v, scheduler.AsInvalid(err)
	}
	if inner, ok := v.Member("properties"); ok {
		v = inner
	}
	except := []string{"name", "collection", "kind", "id", "etag", "status"}
	if !isSource {
		except = append(except, "type") // of the envelope
	}
	return v.Except(except...), nil
}

// Question reports concurrent changes that a patch would overwrite, one per line.
type Question struct{ document.Problems }

// NewQuestion returns the question whether to overwrite changes of k.
func NewQuestion(k scheduler.Key, lost []document.Change) *Question {
	all := document.Problems{{Message: k.String() + " was changed by another client. Remove these lines to overwrite its changes:"}}
	for _, line := range Lines(lost) {
		all = append(all, document.Problem{Message: line})
	}
	return &Question{all}
}

// Unwrap returns the problems.
func (q *Question) Unwrap() error { return q.Problems }

// Is reports whether target is [scheduler.ErrConflict].
func (*Question) Is(target error) bool { return target == scheduler.ErrConflict }
