package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	_ "time/tzdata" // use the embedded time zones, not the host's

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/collection"
	"github.com/carillon-sched/carillon/cmd/carillon/contexts"
	"github.com/carillon-sched/carillon/cmd/carillon/emulate"
	"github.com/carillon-sched/carillon/cmd/carillon/events"
	"github.com/carillon-sched/carillon/cmd/carillon/explain"
	"github.com/carillon-sched/carillon/cmd/carillon/failures"
	"github.com/carillon-sched/carillon/cmd/carillon/importfile"
	"github.com/carillon-sched/carillon/cmd/carillon/initfile"
	"github.com/carillon-sched/carillon/cmd/carillon/jobs"
	"github.com/carillon-sched/carillon/cmd/carillon/natsuser"
	"github.com/carillon-sched/carillon/cmd/carillon/operation"
	"github.com/carillon-sched/carillon/cmd/carillon/preview"
	"github.com/carillon-sched/carillon/cmd/carillon/remote"
	"github.com/carillon-sched/carillon/cmd/carillon/secrets"
	"github.com/carillon-sched/carillon/cmd/carillon/size"
	"github.com/carillon-sched/carillon/cmd/carillon/sources"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/cmd/carillon/top"
	"github.com/carillon-sched/carillon/store/embedded"
)

// cli is the command line.
type cli struct {
	Dev        devCmd             `cmd:"" help:"Run everything in one process, with emulators."`
	Serve      serveCmd           `cmd:"" help:"Run a scheduler that connects to NATS."`
	Emulate    emulate.Command    `cmd:"" help:"Run only the Service Bus and storage queue emulators."`
	Apply      jobs.Apply         `cmd:"" help:"Create or update jobs from files."`
	Init       initfile.Command   `cmd:"" help:"Create a job file."`
	Validate   jobs.Validate      `cmd:"" help:"Check job files offline."`
	Get        jobs.Get           `cmd:"" aliases:"ls" help:"List or show jobs."`
	Describe   jobs.Describe      `cmd:"" help:"Show a job, its next runs and its last attempt."`
	Edit       jobs.Edit          `cmd:"" help:"Edit a job in your editor."`
	Export     jobs.Export        `cmd:"" help:"Print jobs and collections as job files."`
	Backup     backupCmd          `cmd:"" help:"Back up all jobs with their progress to one file."`
	Restore    restoreCmd         `cmd:"" help:"Restore a backup, in the same place or another."`
	Import     importfile.Command `cmd:"" help:"Convert jobs of other schedulers to job files."`
	Run        jobs.Run           `cmd:"" help:"Run jobs now."`
	Try        jobs.Try           `cmd:"" help:"Test a job file or a stored job with one attempt."`
	Resubmit   jobs.Resubmit      `cmd:"" help:"Rerun failed occurrences."`
	Enable     jobs.Verb          `cmd:"" help:"Enable disabled or paused jobs."`
	Disable    jobs.Disable       `cmd:"" help:"Disable jobs until you enable them."`
	Cancel     jobs.Cancel        `cmd:"" help:"Cancel a job's attempt in flight and its retries."`
	Pause      jobs.Pause         `cmd:"" help:"Pause jobs until a given time."`
	Delete     jobs.Verb          `cmd:"" aliases:"rm" help:"Delete jobs and their history."`
	Operation  operation.Command  `cmd:"" aliases:"operations" help:"List, show and cancel bulk operations."`
	Collection collection.Command `cmd:"" aliases:"collections" help:"Create, show, disable and delete collections."`
	Events     events.Command     `cmd:"" aliases:"event" help:"Publish events, which start jobs, and list them."`
	Sources    sources.Command    `cmd:"" aliases:"source" help:"List, show, enable, disable and delete sources of events."`
	Graph      events.Graph       `cmd:"" help:"Show which events and jobs start which jobs."`
	History    jobs.History       `cmd:"" aliases:"logs" help:"Show past runs."`
	Top        top.Command        `cmd:"" help:"Watch runs, lateness, failures and targets."`
	Failures   failures.Command   `cmd:"" aliases:"failure" help:"Show failed attempts by cause, and pause or rerun their jobs."`
	Audit      jobs.Audit         `cmd:"" help:"Show who changed what."`
	Why        jobs.Why           `cmd:"" help:"Explain why a job ran, or did not."`
	Account    jobs.Account       `cmd:"" help:"Check that every due run of a period has a record."`
	Forecast   jobs.Forecast      `cmd:"" help:"Forecast runs per minute, and suggest how to flatten peaks."`
	Preview    preview.Command    `cmd:"" help:"List the next runs of a schedule."`
	Size       size.Command       `cmd:"" help:"Estimate the machines that a number of jobs and runs needs."`
	Secrets    secrets.Command    `cmd:"" aliases:"secret" help:"Manage shared secrets and their keys."`
	Token      tokenCmd           `cmd:"" aliases:"tokens" help:"Create, list and revoke access tokens."`
	Doctor     doctorCmd          `cmd:"" help:"Check that every job is scheduled, and repair those that are not."`
	Health     healthCmd          `cmd:"" help:"Check whether a scheduler or the emulators are ready."`
	NATS       natsuser.Command   `cmd:"" name:"nats" help:"Print the permissions of a NATS user."`
	Context    contexts.Command   `cmd:"" aliases:"contexts" help:"Manage connections to schedulers by name."`
	Explain    explain.Command    `cmd:"" help:"Describe a field of a job or a collection."`
	Config     configCmd          `cmd:"" help:"Show the settings of serve and their sources."`
	Schema     schemaCmd          `cmd:"" help:"Print the JSON Schema of jobs, collections or settings, for editors."`
	Docs       docsCmd            `cmd:"" help:"Print the reference pages."`
	Completion completionCmd      `cmd:"" help:"Print the completion script of a shell."`
	Help       helpCmd            `cmd:"" help:"Show the help of a command, with examples."`
	Version    versionCmd         `cmd:"" help:"Show the version."`
	Complete   completeCmd        `cmd:"" name:"__complete" hidden:""`

	JSON        bool `name:"json" help:"Print one JSON document."`
	UTC         bool `name:"utc" help:"Show times in UTC, not in this machine's time zone."`
	ShowVersion bool `name:"version" help:"Show the version."`
}

const description = `Carillon is a job scheduler on NATS JetStream.

A job is a JSON or YAML document: when to run, what to call, how to retry. Start with "carillon dev examples/jobs";
"carillon docs" has the reference.`

// run executes a command line and returns the exit code.
func run(args []string, t *terminal.Terminal) int {
	parser, c := newParser(t, args...)
	args = joinNegative(args)
	if len(args) == 0 {
		_, _ = parser.Parse([]string{"--help"})
		return terminal.ExitUsage
	}
	command, err := parser.Parse(args)
	t.JSON = c.JSON || err != nil && slices.Contains(args, "--json")
	t.UTC = c.UTC
	switch {
	case t.Helped:
		return terminal.ExitOK
	case c.ShowVersion:
		return t.Fail(versionCmd{}.Run(t))
	case err != nil:
		return t.Fail(usage(err))
	}
	if err := remote.UseContext(command, t); err != nil {
		return t.Fail(err)
	}
	ctx, stop := interruptible(t.Lent)
	defer stop()
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(commandLine(args))
	return t.Fail(ended(ctx, command.Run(t)))
}

// joinNegative joins "--at -2h" to "--at=-2h". It is unambiguous because no flag begins with a digit.
func joinNegative(args []string) (joined []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(joined, args[i:]...)
		}
		if next := i + 1; next < len(args) && longFlag.MatchString(args[i]) && negative.MatchString(args[next]) {
			joined = append(joined, args[i]+"="+args[next])
			i = next
			continue
		}
		joined = append(joined, args[i])
	}
	return joined
}

var (
	longFlag = regexp.MustCompile(`^--[a-z][a-z-]*$`)
	negative = regexp.MustCompile(`^-P?\d`)
	digits   = regexp.MustCompile(`^\d+$`)
)

// newParser returns a parser of the command that args begin with, or of all commands.
func newParser(t *terminal.Terminal, args ...string) (*kong.Kong, *cli) {
	c := &cli{Enable: jobs.Enable, Delete: jobs.Delete}
	parser, err := kong.New(c, kong.IgnoreFields(`^cli\.(`+strings.Join(otherCommands(args), "|")+`)$`),
		kong.Name("carillon"), kong.Description(description), kong.Writers(t.Out, t.Err),
		kong.Exit(func(int) { t.Helped = true }), // only --help exits
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ValueFormatter(describe),
	)
	if err != nil {
		panic(err) // the struct tags above are wrong
	}
	addHelp(parser.Model.Node)
	return parser, c
}

// otherCommands returns the fields of the commands that args do not select, or none if args select no command. Building a
// parser of all flags takes longer than running most commands.
func otherCommands(args []string) (fields []string) {
	found := false
	for f := range reflect.TypeFor[cli]().Fields() {
		_, command := f.Tag.Lookup("cmd")
		names := append(strings.Split(f.Tag.Get("aliases"), ","), cmp.Or(f.Tag.Get("name"), strings.ToLower(f.Name)))
		switch {
		case command && len(args) > 0 && args[0] != "" && slices.Contains(names, args[0]):
			found = true
		case command:
			fields = append(fields, f.Name)
		}
	}
	if !found {
		return nil
	}
	return fields
}

// describe returns a flag's help with its default and environment variable.
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

// interruption is the cause of a context that a signal has canceled. It matches [context.Canceled].
type interruption struct{ signal os.Signal }

// Error names the signal.
func (e *interruption) Error() string { return e.signal.String() }

// Is reports whether target is [context.Canceled].
func (e *interruption) Is(target error) bool { return target == context.Canceled }

// interruptible returns a context that ends with the first SIGINT or SIGTERM. The second signal kills the
// process. SIGINT is ignored while another program uses the terminal.
func interruptible(lent func() bool) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2) // one of each kind: a SIGTERM right after a Ctrl-C must not be dropped
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt && lent() {
					continue
				}
				cancel(&interruption{s})
			case <-ctx.Done():
			}
			return
		}
	}()
	return ctx, func() { cancel(nil) }
}

// ended returns the error of a command whose context is ctx. It distinguishes Ctrl-C from a normal end, even if
// the command has shut down gracefully.
func ended(ctx context.Context, err error) error {
	why, ok := errors.AsType[*interruption](context.Cause(ctx))
	if err == nil && ok && why.signal == os.Interrupt {
		return why
	}
	return err
}

// asked ignores the error of a process that was stopped during startup.
func asked(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// usage adds a hint to a parser error.
func usage(err error) error {
	hint := `run "carillon --help"`
	if p, ok := errors.AsType[*kong.ParseError](err); ok {
		n := cmp.Or(p.Context.Selected(), p.Context.Model.Node)
		hint = `run "` + commandPath(n) + ` --help"`
		err = plainer(n, secrets.Unshown(n, err))
	}
	return terminal.Hinted(terminal.Usage(err), hint)
}

// commandPath returns a command without aliases, as the user would type it.
func commandPath(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return commandPath(n.Parent) + " " + n.Name
}

// Parser messages to reword: a value outside a flag's enumeration (an empty value counts as an absent flag), a missing
// argument or value, and an unknown word with the parser's suggestions.
var (
	oneOf   = regexp.MustCompile(`^(--[a-z-]+|\[?<[a-z]+>\]?) must be one of (".*") but got (".*")$`)
	missing = regexp.MustCompile(`^expected "(<.*>)"$`)
	noValue = regexp.MustCompile(`^(--[a-z-]+): expected .* but got "EOL"`)
	unknown = regexp.MustCompile(`^(unexpected argument|unknown flag) (.+?)(?:, did you mean (?:one of )?(".*")\?)?$`)
)

// plainer rewords a parser error in the style of all other errors.
func plainer(n *kong.Node, err error) error {
	text := err.Error()
	if m := oneOf.FindStringSubmatch(text); m != nil {
		words := strings.Split(strings.TrimPrefix(strings.TrimSuffix(m[2], `,""`), `"",`), ",")
		name, all := strings.Trim(m[1], "[<>]"), strings.ReplaceAll(strings.Join(words, ", "), `"`, "")
		return fmt.Errorf("%s: %s is not one of %s", name, m[3], all)
	}
	if m := missing.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: is missing", m[1])
	}
	if m := noValue.FindStringSubmatch(text); m != nil {
		return fmt.Errorf("%s: has no value", m[1])
	}
	if m := unknown.FindStringSubmatch(text); m != nil {
		return unknownWord(n, m[1], m[2], m[3])
	}
	return err
}

// unknownWord returns the error for an unknown argument or flag, with at most three suggestions. For a short flag it has
// none, because all short flags are similar.
func unknownWord(n *kong.Node, what, word, similar string) error {
	counts := slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Short == 'n' })
	switch {
	case what == "unknown flag":
		what += " " + word
		if !strings.HasPrefix(word, "--") {
			similar = ""
		}
	case len(n.Children) > 0:
		what = fmt.Sprintf("unknown command %q", word)
		if n.Parent == nil && other[word] != "" {
			similar = strconv.Quote(other[word])
		}
	case counts && digits.MatchString(word):
		return fmt.Errorf("%s %q; did you mean -n %s?", what, word, word)
	default:
		what += fmt.Sprintf(" %q", word)
	}
	if similar == "" {
		return errors.New(what)
	}
	all := strings.Split(similar, ", ")
	return fmt.Errorf("%s; did you mean %s?", what, strings.Join(all[:min(3, len(all))], " or "))
}

// other maps commands of other programs to equivalent ones of this program.
var other = map[string]string{
	"jobs": "get", "job": "get", "list": "get", "show": "get", "status": "get", "log": "logs", "add": "apply", "create": "apply",
	"put": "apply", "trigger": "run", "start": "enable", "resume": "enable", "stop": "disable",
	"remove": "delete", "check": "validate", "lint": "validate", "diff": "apply --dry-run", "retry": "resubmit",
}

func main() {
	t := terminal.System()
	t.Version = thisBuild().Version
	limitMemory(t.Lookup, memlimit.FromCgroup)
	os.Exit(run(os.Args[1:], t))
}

// memoryShare is the part of a container's memory that Go can use. The rest is for memory outside the Go heap.
const memoryShare = 0.9

// baseMemory is the memory of a process without held batons and garbage.
const baseMemory = 64 << 20

// tuneMemory configures the garbage collector for --hold-memory, unless GOGC or GOMEMLIMIT is set.
func tuneMemory(lookup func(string) (string, bool), hold byteSize) {
	if !tuned(lookup) {
		embedded.KeepWithin(uint64(hold + hold/4 + baseMemory))
	}
}

// tuned reports whether the environment configures the garbage collector.
func tuned(lookup func(string) (string, bool)) bool {
	_, percent := lookup("GOGC")
	_, limit := lookup("GOMEMLIMIT")
	return percent || limit
}

// limitMemory applies the memory limit of the process's control group to Go, unless GOMEMLIMIT is set. Without a
// limit, or if it cannot be read, nothing changes.
func limitMemory(lookup func(string) (string, bool), limit memlimit.Provider) {
	if _, set := lookup("GOMEMLIMIT"); set {
		return // the Go runtime applies it
	}
	if most, err := memlimit.ApplyRatio(limit, memoryShare)(); err == nil {
		debug.SetMemoryLimit(int64(min(most, math.MaxInt64)))
	}
}
