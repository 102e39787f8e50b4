package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Asks reports whether a person can answer questions.
func (t *Terminal) Asks() bool {
	f, ok := t.In.(*os.File)
	return ok && IsTerminal(f)
}

// Ask prints a question on stderr and returns the line that is typed, without the space around it. An interrupt while
// it waits is the error.
func (t *Terminal) Ask(ctx context.Context, question string) (string, error) {
	t.Errorf("%s", question)
	if t.lines == nil {
		t.lines = bufio.NewReader(t.In)
	}
	type line struct {
		text string
		err  error
	}
	typed := make(chan line, 1)
	go func() { // ends with the process at the latest
		text, err := t.lines.ReadString('\n')
		typed <- line{text, err}
	}()
	select {
	case l := <-typed:
		text := strings.TrimSpace(l.text)
		if errors.Is(l.err, io.EOF) && text != "" {
			l.err = nil
		}
		return text, l.err
	case <-ctx.Done():
		fmt.Fprintln(t.Err)
		return "", context.Cause(ctx)
	}
}

// Confirm asks whether to do something, which is not done unless the answer is yes.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	answer, err := t.Ask(ctx, question+" [y/N] ")
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"), err
}
