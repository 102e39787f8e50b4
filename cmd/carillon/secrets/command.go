package secrets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/secrets/seal"
)

// Command are the commands that deal with secrets.
type Command struct {
	Set    Set    `cmd:"" help:"Set a shared secret."`
	List   List   `cmd:"" aliases:"ls" help:"List shared secrets, without their values."`
	Delete Delete `cmd:"" aliases:"rm" help:"Delete shared secrets."`
	Rotate Rotate `cmd:"" help:"Seal everything with the scheduler's first key."`
	Keygen Keygen `cmd:"" help:"Generate a key for a key file."`
}

// Set sets a shared secret.
type Set struct {
	remote.Server

	Name        string `arg:"" help:"Name of the secret."`
	ValueFile   string `name:"value-file" help:"File with the value, or - for standard input. A final line break is removed. Default: prompt for the value." placeholder:"FILE"`
	Description string `help:"Purpose of the secret." placeholder:"TEXT"`
}

// Run sets the secret.
func (c Set) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	if err := scheduler.ValidateName("secret", c.Name); err != nil {
		return terminal.Usage(err)
	}
	value, err := c.value(ctx, t)
	if err != nil {
		return err
	}
	s, created, err := api.PutSecret(ctx, c.Name, value, c.Description)
	return terminal.PrintOne(t, s, err, func(s *v1.SharedSecret) {
		done := "updated"
		if created {
			done = "created"
		}
		t.Printf("%-9s %s\n", done, s.Name)
	})
}

// List lists shared secrets.
type List struct{ remote.Server }

// Run lists the secrets.
func (List) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	all, err := api.Secrets(ctx)
	now := time.Now()
	return terminal.PrintList(t, all, err, `no shared secrets: create one with "carillon secrets set NAME"`,
		[]string{"NAME", "UPDATED", "CREATED", "KEY", "DESCRIPTION"}, func(s *v1.SharedSecret) []string {
			if s.Problem != "" {
				return []string{s.Name, "", "", "", t.Paint(terminal.Red, s.Problem)}
			}
			return []string{s.Name, terminal.Ago(s.Updated, now), terminal.Ago(s.Created, now), s.Key, s.Description}
		})
}

// Delete deletes shared secrets.
type Delete struct {
	remote.Server

	Names []string `arg:"" name:"name" help:"Names of secrets."`
	Force bool     `help:"Delete them even if jobs refer to them. Attempts of these jobs then fail."`
}

// Run deletes the secrets, and continues after an error.
func (c Delete) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	for _, name := range c.Names {
		if err := scheduler.ValidateName("secret", name); err != nil {
			return terminal.Usage(err)
		}
	}
	return remote.EachOf(ctx, t, "secret", c.Names, func(name string) (string, error) {
		return "deleted", api.DeleteSecret(ctx, name, c.Force)
	}, nil)
}

// Rotate seals everything with the first key.
type Rotate struct{ remote.Server }

// Run rotates.
func (Rotate) Run(ctx context.Context, t *terminal.Terminal, api *client.Client) error {
	r, err := api.RotateSecrets(ctx)
	err = terminal.PrintOne(t, r, err, func(r *v1.Rotation) { printRotation(t, r) })
	if err == nil && r.Failures > 0 {
		failed := terminal.Plural(r.Failures, "secret, job or source was", "secrets, jobs or sources were")
		err = terminal.Hinted(fmt.Errorf("%s not sealed again", failed),
			"put back the key they were sealed with, at the end of the key file, or set them again")
	}
	return err
}

func printRotation(t *terminal.Terminal, r *v1.Rotation) {
	for _, f := range r.Failed {
		what := "secret " + f.Secret
		switch {
		case f.Job != "":
			what = "job " + f.Job
		case f.Source != "":
			what = "source " + f.Source
		}
		t.Printf("%s  %s  %s\n", t.Paint(terminal.Red, "failed"), what, f.Reason)
	}
	if more := r.Failures - len(r.Failed); more > 0 {
		t.Printf("%s  %d more\n", t.Paint(terminal.Red, "failed"), more)
	}
	jobs := terminal.Plural(r.Jobs, "job", "jobs")
	if r.Sources > 0 {
		jobs += ", " + terminal.Plural(r.Sources, "source", "sources")
	}
	t.Printf("key %s: %s and %s sealed again, %d had it before\n", r.Key,
		jobs, terminal.Plural(r.Secrets, "shared secret", "shared secrets"), r.Skipped)
}

// Keygen makes a key.
type Keygen struct {
	ID   string `name:"id" help:"Id of the key: letters, digits, - and _. Default: today's date with a few random characters." placeholder:"ID"`
	File string `help:"Write the line to a new file that only its owner can read. An existing file stays unchanged." placeholder:"FILE"`
}

// Run makes the key. It asks no scheduler.
func (c Keygen) Run(t *terminal.Terminal) error {
	k, err := seal.NewKey(cmp.Or(c.ID, keyID("")))
	if err != nil {
		return terminal.Usage(err)
	}
	if c.File != "" {
		return c.write(t, k)
	}
	if t.JSON {
		return t.PrintJSON(map[string]string{"id": k.ID(), "line": k.Text()})
	}
	t.Printf("%s\n", k.Text())
	return nil
}

// write writes the key to a new file.
func (c Keygen) write(t *terminal.Terminal, k seal.Key) error {
	_, err := os.Stat(c.File)
	made := errors.Is(err, fs.ErrNotExist)
	if made {
		err = writeKey(c.File, k)
	}
	switch {
	case err != nil:
		return keyFileError(c.File, err)
	case t.JSON:
		return t.PrintJSON(map[string]any{"file": c.File, "made": made})
	case made:
		t.Printf("%s: a new key, %s\n", c.File, k.ID())
	default:
		t.Printf("%s: exists, unchanged\n", c.File)
	}
	return nil
}

// ask reads a line from the terminal f without echo.
func ask(ctx context.Context, t *terminal.Terminal, f *os.File, prompt string) (string, error) {
	fd := int(f.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", terminal.Hinted(fmt.Errorf("the terminal cannot be silenced: %w", err),
			"pipe the value in with --value-file -, or name a file")
	}
	defer fmt.Fprintln(t.Err)
	fmt.Fprint(t.Err, prompt)
	text, err := terminal.Await(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	switch {
	case ctx.Err() != nil:
		_ = term.Restore(fd, before)
	case err == nil && len(text) == 0:
		err = terminal.Usagef("the value must not be empty")
	}
	return string(text), err
}

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
	if c.ValueFile == "" {
		f, ok := t.In.(*os.File)
		if !ok || !t.Asks() {
			return "", terminal.Hinted(terminal.Usagef("there is no terminal to ask for the value on"),
				"pipe the value in with --value-file -, or name a file")
		}
		text, err := ask(ctx, t, f, "Value of "+c.Name+" (not shown): ")
		if err != nil {
			return "", err
		}
		return text, checkValue("the value", text)
	}
	data, err := t.ReadArgument(ctx, "--value-file", c.ValueFile, maxValue)
	if err != nil {
		return "", err
	}
	from := c.ValueFile
	if from == "-" {
		from = "standard input"
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
