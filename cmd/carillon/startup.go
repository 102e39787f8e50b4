package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/node"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/flow"
	"github.com/carillon-sched/carillon/store/conn"
)

// startup waits for the dependencies of a starting process until a deadline.
type startup struct {
	deadline time.Time
	log      *slog.Logger
	say      func(reason string) // reports the reason of a wait; optional
}

// between is the pause between attempts.
const between = 250 * time.Millisecond

// try repeats attempt until it succeeds, fails permanently, or fails at the deadline. passing reports whether an
// error is transient. Each wait is logged once, with its reason and a hint.
func (s startup) try(ctx context.Context, attempt func() error, passing func(error) bool) error {
	said, since := "", time.Now()
	for {
		err := attempt()
		left := time.Until(s.deadline)
		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil, left <= 0, !passing(err):
			return err
		}
		reason, hint := err.Error(), terminal.Hint(err)
		if reason != said {
			said = reason
			s.log.Info("waiting for NATS", waitAttributes(left, reason, hint)...)
		}
		if s.say != nil {
			s.say(sentence(since, reason, hint))
		}
		if !flow.Pause(ctx, between) {
			return context.Cause(ctx)
		}
	}
}

// open opens a node, once the store can be opened.
func (s startup) open(ctx context.Context, cfg node.Config) (n *node.Node, err error) {
	err = s.try(ctx, func() (failed error) {
		n, failed = node.Open(ctx, cfg)
		return failed
	}, conn.IsTransient)
	return n, err
}

// waitAttributes returns the log attributes of a wait.
func waitAttributes(left time.Duration, reason, hint string) []any {
	attributes := []any{"atMost", left.Round(time.Second), "reason", reason}
	if hint != "" {
		attributes = append(attributes, "hint", hint)
	}
	return attributes
}

// sentence describes a wait in /readyz.
func sentence(since time.Time, reason, hint string) string {
	text := "starting, and waiting since " + since.UTC().Format("15:04:05Z") + ": " + reason
	if hint != "" {
		text += "; " + hint
	}
	return text
}

// notef prints a note on stderr, unless --json is set.
func (d *dev) notef(format string, args ...any) {
	if !d.t.JSON {
		fmt.Fprintf(d.t.Err, format+"\n", args...)
	}
}

// sayf prints a line on stdout, unless --json is set.
func (d *dev) sayf(format string, args ...any) {
	if !d.t.JSON {
		d.t.Printf(format+"\n", args...)
	}
}

// greet prints the addresses and who can use them.
func (d *dev) greet(ctx context.Context) error {
	open, err := d.node.Load().Open(ctx)
	if err != nil {
		return fmt.Errorf("read access tokens: %w", err)
	}
	d.sayf("carillon %s, data in %s", thisBuild().Version, d.cmd.Data)
	d.sayf("")
	if !d.cmd.NoConsole {
		d.sayf("  web    %s/ (the console)", d.url())
	}
	d.sayf("  REST   %s", d.url())
	d.sayf("  NATS   %s", d.nats.URL())
	d.sayf("  echo   %s/echo", d.url())
	p := d.ports()
	d.sayf("  AMQP   %s, Service Bus (management API: %s)", p.AMQP, d.emulators.Admin())
	d.sayf("  queue  %s", p.Queue)
	d.sayf("")
	switch {
	case d.cmd.Strings:
		d.sayf("%s", strings.TrimSuffix(d.emulators.Pasteable(nil, nil), "\n"))
	case d.cmd.PortsFile != "":
		d.sayf("Connection strings of AMQP and queue: %s", d.cmd.PortsFile)
	default:
		d.sayf("To print the connection strings of AMQP and queue, pass --show-connections or --ports-file FILE.")
	}
	d.sayf("%s", openness(open))
	if exposed := listen.Exposed(ctx, d.cmd.listeners()...); len(exposed) > 0 {
		d.t.Complain("warning", listen.Names(exposed)+" may be reachable from other machines, without a password")
	}
	return nil
}

// openness describes who can use the process.
func openness(open bool) string {
	if open {
		return `All programs on this machine have full access. To require tokens on REST: carillon token create --role admin`
	}
	return "REST requires an access token. All programs on this machine have full access to everything else."
}

// suggest prints three commands to try next.
func (d *dev) suggest() {
	server := ""
	if d.cmd.HTTP != "127.0.0.1:8080" {
		server = " --server " + d.url()
	}
	me := program()
	d.sayf("")
	d.sayf("Try in another terminal:")
	if name := d.example; name != "" {
		d.sayf("  %s get%s", me, server)
		d.sayf("  %s run %s%s", me, name, server)
		d.sayf("  %s history %s%s", me, name, server)
	} else {
		d.sayf("  %s apply examples/jobs%s", me, server)
		d.sayf("  %s get%s", me, server)
		d.sayf("  %s history --follow%s", me, server)
	}
	d.sayf("")
	d.sayf("Attempts (time, job, outcome, lateness); stop with Ctrl-C:")
	d.sayf("")
}

// program returns the command that started this program.
func program() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./cmd/carillon"
	}
	return "carillon"
}
