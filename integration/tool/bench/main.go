package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// Exit codes, as in carillon.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// scenario is one kind of measurement, on a fresh stage for each side.
type scenario struct {
	name    string
	n       int // default of -n; 0: the scenario has a rate
	measure func(ctx context.Context, s *stage) (figures, error)
	about   string
}

var scenarios = []scenario{
	{"herd", 10_000, herd, `N one-shot jobs are due at the same instant. Unless -bare=false, N bare JetStream schedules are
            measured in turn, with an HTTP call and an acknowledgement for each.`},
	{"steady", 0, steady, `Jobs recur every 10 s and are due evenly, -rate a second. Every instant within -seconds is
            accounted for. A call more than 10 s late is lost.`},
	{"events", 1, events, `Events are published at -rate a second for -seconds. Each starts N jobs. With -listeners, so many
            jobs have a filter, and an event starts one of N of them. Lateness counts from the publication.`},
	{"hold", 100_000, hold, `N one-shot jobs wait for 30 to 300 days: memory and disk for each.`},
	{"restart", 100_000, restart, `N jobs wait. nats-server and carillon serve stop and start again on the same data, and
            are then killed (kill -9) and start again, each time until a new job has called the target.`},
	{"register", 100_000, register, `N jobs are created as specs published to a stream, 4,000 in flight, and then N jobs
            by API requests over NATS, 64 in flight.`},
	{"kill", 10_000, kill, `The herd with two processes of carillon serve. One is killed (kill -9) after a tenth of the calls.`},
}

func scenarioNames() string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// options are the command line.
type options struct {
	name     string
	scenario scenario
	n        int
	rate     int
	seconds  float64
	ahead    time.Duration
	sync     string
	servers  int
	against  string
	runs     int
	bare     bool
	// of events
	listeners, each int
	apart           bool

	capacity string
	json     bool
}

// newFlags declares the command line.
func newFlags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints errors, writeHelp the help
	f.StringVar(&o.name, "scenario", "", "`one of` "+scenarioNames())
	f.IntVar(&o.n, "n", 0, "number of `jobs`; default depends on the scenario")
	f.IntVar(&o.rate, "rate", 500, "events, steady: due `instants` a second, or events")
	f.Float64Var(&o.seconds, "seconds", 20, "events, steady: `length` of the measurement")
	f.DurationVar(&o.ahead, "ahead", 0, "herd, kill, steady: `time` to create the jobs before the first is due; default an estimate")
	f.StringVar(&o.sync, "sync", "", "sync_interval of nats-server: a `duration` or always")
	f.IntVar(&o.servers, "servers", 1, "except restart: `number` of nats-server processes, with as many replicas and 4 lanes")
	f.StringVar(&o.against, "against", "", "also measure another `build` in each run: a git revision, or a carillon binary")
	f.IntVar(&o.runs, "runs", 1, "`number` of runs; the report has the medians, and every second run has the reverse order")
	f.BoolVar(&o.bare, "bare", true, "herd: also measure bare JetStream")
	f.IntVar(&o.listeners, "listeners", 0, "events: number of `jobs` that listen with a filter, at least -n")
	f.IntVar(&o.each, "each", 1, "events: with -listeners, one of so many `events` starts a job")
	f.BoolVar(&o.apart, "apart", false, "events: the listeners beyond -n listen to other events")
	f.StringVar(&o.capacity, "capacity", "", "print the costs from the reports in this `directory`; with -json as carillon size needs them")
	f.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	return f
}

// readOptions reads and checks the command line.
func readOptions(args []string) (options, error) {
	var o options
	f := newFlags(&o)
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for _, s := range scenarios {
		if s.name == o.name {
			o.scenario = s
		}
	}
	o.n = cmp.Or(o.n, o.scenario.n)
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.scenario.measure == nil && o.capacity == "":
		return o, fmt.Errorf("-scenario %q: must be one of %s", o.name, scenarioNames())
	case o.n < 0 || o.rate <= 0 || o.seconds <= 0 || o.runs <= 0 || o.servers <= 0 || o.each <= 0:
		return o, errors.New("-n, -rate, -seconds, -runs, -servers and -each must be positive")
	case o.listeners != 0 && o.listeners < o.n:
		return o, errors.New("-listeners must be 0, or at least -n")
	case o.servers > 1 && o.name == "restart":
		return o, errors.New("-servers: restart has one server")
	}
	return o, nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status, ok := runChild(ctx, os.Args[1:])
	if !ok {
		status = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	stop()
	os.Exit(status)
}

// run executes the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := readOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		writeHelp(stdout)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "bench: error: %v\nbench: hint: -h explains the flags\n", err)
		return exitUsage
	case o.capacity != "":
		err = writeCapacity(stdout, o.capacity, o.json)
	default:
		b := &bench{options: o, log: log.New(stderr, "", log.Ltime)}
		err = b.run(ctx, stdout)
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "bench: interrupted")
		return exitInterrupted
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: error: %v\n", err)
		return exitFailure
	}
	return exitOK
}

// writeHelp explains scenarios, flags and figures.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, `bench measures Carillon: nats-server, carillon serve and the target of all jobs as separate processes.

    go run ./integration/tool/bench -scenario herd -runs 3
    go run ./integration/tool/bench -scenario herd -against main -bare=false -runs 5

Scenarios:

`)
	for _, s := range scenarios {
		fmt.Fprintf(w, "  %-8s  %s\n", s.name, s.about)
	}
	fmt.Fprint(w, "\nFlags:\n\n")
	f := newFlags(&options{})
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprintf(w, "\nFigures:\n%s\nThe exit code is 1 if one of these is not 0: %s.\n", explanations, strings.Join(faulty, ", "))
}
