package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"
)

// askSecret asks for a line on the terminal f without showing what is typed.
func (t *terminal) askSecret(ctx context.Context, f *os.File, prompt string) (string, error) {
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", hinted(fmt.Errorf("the terminal cannot be silenced: %w", err), "pipe the value in with --value-file -, or name a file")
	}
	defer fmt.Fprintln(t.err)
	fmt.Fprint(t.err, prompt)
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
			l.err = &usageError{errors.New("the value must not be empty")}
		}
		return string(l.text), l.err
	case <-ctx.Done():
		_ = term.Restore(fd, before)
		return "", context.Cause(ctx)
	}
}
