package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/collection"
	"github.com/carillon-sched/carillon/cmd/carillon/emulate"
	"github.com/carillon-sched/carillon/cmd/carillon/preview"
	"github.com/carillon-sched/carillon/cmd/carillon/secrets"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// cli is the command line.
type cli struct {
	Dev     devCmd          `cmd:"" help:"Run everything on this machine, to try jobs out."`
	Serve   serveCmd        `cmd:"" help:"Run a scheduler beside a NATS server."`
	Emulate emulate.Command `cmd:"" help:"Run the Service Bus and storage queue emulators alone."`
	Apply   applyCmd        `cmd:"" help:"Create or update jobs from files."`
	Get     getCmd          `cmd:"" help:"Show jobs."`
	Run     jobsCmd         `cmd:"" help:"Run jobs now, besides their schedule."`
	Enable  jobsCmd         `cmd:"" help:"Let disabled jobs run again."`
	Disable jobsCmd         `cmd:"" help:"Stop jobs until they are enabled."`
	Delete  jobsCmd         `cmd:"" help:"Delete jobs with their history."`

	Collection collection.Command `cmd:"" help:"Create, show, stop and delete collections of jobs."`

	History historyCmd      `cmd:"" help:"Show what ran, and how it ended."`
	Preview preview.Command `cmd:"" help:"Show when a schedule would run."`
	Secrets secrets.Command `cmd:"" help:"Keep secrets that jobs name, and the keys that seal them."`
	Doctor  doctorCmd       `cmd:"" help:"Look for jobs that would never run."`
	Docs    docsCmd         `cmd:"" help:"Print the reference pages."`
	Version versionCmd      `cmd:"" help:"Show the version."`

	JSON bool `name:"json" help:"Print JSON, for programs."`
}

const description = `Carillon is a job scheduler on NATS JetStream.

A job is a JSON or YAML document: when to run, what to call, how to retry. Start with "carillon dev examples/jobs";
"carillon docs" has the reference.`

// run carries a command line out and returns the exit code.
func run(args []string, t *terminal.Terminal) int {
	parser, c := newParser(t)
	if len(args) == 0 {
		_, _ = parser.Parse([]string{"--help"})
		return terminal.ExitUsage
	}
	command, err := parser.Parse(args)
	if t.Helped {
		return terminal.ExitOK
	}
	if err != nil {
		return t.Fail(usage(err))
	}
	t.JSON = c.JSON
	ctx, stop := interruptible()
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	return t.Fail(command.Run(t))
}

func newParser(t *terminal.Terminal) (*kong.Kong, *cli) {
	c := &cli{Run: runCmd, Enable: enableCmd, Disable: disableCmd, Delete: deleteCmd}
	parser, err := kong.New(c,
		kong.Name("carillon"), kong.Description(description), kong.Writers(t.Out, t.Err),
		kong.Exit(func(int) { t.Helped = true }), // only help exits by itself
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.ValueFormatter(describe),
	)
	if err != nil {
		panic(err) // the struct tags above are wrong
	}
	return parser, c
}

// describe is a flag's help with its default and its environment variable.
func describe(v *kong.Value) string {
	text := v.Help
	if d := v.Default; d != "" && d != "0" && d != "0s" {
		text += " Default: " + d + "."
	}
	if len(v.Tag.Envs) > 0 {
		text += " Also $" + v.Tag.Envs[0] + "."
	}
	return text
}

// usage adds to an error of the parser where to look.
func usage(err error) error {
	hint := `run "carillon --help"`
	if p, ok := errors.AsType[*kong.ParseError](err); ok {
		if n := p.Context.Selected(); n != nil {
			hint = `run "` + n.FullPath() + ` --help"`
			err = plainer(secrets.Unshown(n, err))
		}
	}
	return terminal.Hinted(terminal.Usage(err), hint)
}

// oneOf is how the parser says that a flag has a value that is not among its
// words, of which an empty one stands for the flag that is not given.
var oneOf = regexp.MustCompile(`^(--[a-z-]+) must be one of (".*") but got (".*")$`)

// plainer returns an error of the parser in the words of all other errors.
func plainer(err error) error {
	m := oneOf.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	words := strings.Split(strings.TrimSuffix(m[2], `,""`), ",")
	return fmt.Errorf("%s: %s is not one of %s", m[1], m[3], strings.ReplaceAll(strings.Join(words, ", "), `"`, ""))
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM.
// The second one kills the process.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// asked drops the error of a process that was told to stop while it started.
func asked(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
