package secrets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Unshown keeps out of an error of the parser what may be the value of a secret,
// given where it does not belong.
func Unshown(command *kong.Node, err error) error {
	set := command.Parent != nil && command.Parent.Name == "secrets" && command.Name == "set"
	if set && strings.HasPrefix(err.Error(), "unexpected argument") {
		return errors.New("there is an argument too many; " +
			"the value of a secret is none: it is asked for, or read with --value-file")
	}
	return err
}

// maxValue is more than the scheduler takes: of a longer file the rest is not
// read.
const maxValue = 16 << 20

// value reads the value from the file, standard input or the terminal.
func (c Set) value(ctx context.Context, t *terminal.Terminal) (string, error) {
	in, from := t.Input(ctx), "standard input"
	switch c.ValueFile {
	case "":
		f, ok := t.In.(*os.File)
		if !ok || !terminal.IsTerminal(f) {
			return "", terminal.Hinted(terminal.Usagef("there is no terminal to ask for the value on"),
				"pipe the value in with --value-file -, or name a file")
		}
		text, err := ask(ctx, t, f, "Value of "+c.Name+" (not shown): ")
		if err != nil {
			return "", err
		}
		return text, checkValue("the value", text)
	case "-":
	default:
		f, err := os.Open(c.ValueFile)
		if err != nil {
			return "", terminal.Usagef("--value-file: %s: %w", c.ValueFile, terminal.WithoutPath(err))
		}
		defer f.Close()
		in, from = f, c.ValueFile
	}
	data, err := io.ReadAll(io.LimitReader(in, maxValue))
	if err != nil {
		return "", fmt.Errorf("%s: %w", from, terminal.WithoutPath(err))
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	return text, checkValue(from, text)
}

// checkValue refuses what would not arrive as it is: JSON has text only.
func checkValue(from, text string) error {
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("%s: is not text; put binary values, such as a .pfx, in base64", from)
	case len(text) == maxValue:
		return fmt.Errorf("%s: has %d bytes or more; a secret has at most %d", from, len(text), document.MaxSecret)
	case len(text) > document.MaxSecret:
		return fmt.Errorf("%s: has %d bytes; a secret has at most %d", from, len(text), document.MaxSecret)
	}
	return nil
}
