package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// askSecret asks for a line on the terminal f without showing what is typed.
func (t *terminal) askSecret(ctx context.Context, f *os.File, prompt string) (string, error) {
	restore, err := silence(f)
	if err != nil {
		return "", hinted(fmt.Errorf("the terminal cannot be silenced: %w", err), "pipe the value in with --value-file -, or name a file")
	}
	defer func() {
		restore()
		fmt.Fprintln(t.err)
	}()
	fmt.Fprint(t.err, prompt)
	typed := make(chan string, 1)
	go func() { // ends with the process at the latest
		line, _ := bufio.NewReader(f).ReadString('\n')
		typed <- strings.TrimRight(line, "\r\n")
	}()
	select {
	case line := <-typed:
		if line == "" {
			return "", &usageError{errors.New("the value must not be empty")}
		}
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
