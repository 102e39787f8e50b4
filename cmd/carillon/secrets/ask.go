package secrets

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// ask asks for a line on the terminal f without showing what is typed.
func ask(ctx context.Context, t *terminal.Terminal, f *os.File, prompt string) (string, error) {
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", terminal.Hinted(fmt.Errorf("the terminal cannot be silenced: %w", err),
			"pipe the value in with --value-file -, or name a file")
	}
	defer fmt.Fprintln(t.Err)
	fmt.Fprint(t.Err, prompt)
	type line struct {
		text []byte
		err  error
	}
	typed := make(chan line, 1)
	go func() { // ends with the process at the latest
		text, err := term.ReadPassword(fd)
		typed <- line{text, err}
	}()
	select {
	case l := <-typed:
		if l.err == nil && len(l.text) == 0 {
			l.err = terminal.Usagef("the value must not be empty")
		}
		return string(l.text), l.err
	case <-ctx.Done():
		_ = term.Restore(fd, before)
		return "", context.Cause(ctx)
	}
}
