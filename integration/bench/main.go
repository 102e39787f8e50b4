package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/carillon-sched/carillon/store/embedded"
)

// The exit statuses, as those of carillon.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	if status, ok := runChild(os.Args[1:]); ok { // with the garbage collector as it is, as anybody's program
		os.Exit(status)
	}
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		embedded.TuneMemory() // as carillon does
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run measures what args ask for and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := readOptions(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		writeHelp(stdout)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "bench: error: %v\nbench: hint: -h explains the flags\n", err)
		return exitUsage
	}
	rep, err := measure(ctx, o, stderr)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "bench: interrupted")
		return exitInterrupted
	}
	if err == nil {
		err = rep.write(stdout, o.json)
	}
	if err != nil {
		fmt.Fprintf(stderr, "bench: error: %v\n", err)
		return exitFailure
	}
	for _, f := range rep.faults() {
		fmt.Fprintf(stderr, "bench: error: %s\n", f)
	}
	if len(rep.faults()) > 0 {
		return exitFailure
	}
	return exitOK
}

// measure runs the scenario as often as asked for.
func measure(ctx context.Context, o options, stderr io.Writer) (*report, error) {
	rep := &report{options: o}
	workshop := &workshop{}
	defer workshop.close()
	for i := range o.runs {
		b := &bench{options: o, run: i, progress: newProgress(stderr, o), workshop: workshop}
		parts, err := o.scenario.measure(ctx, b)
		if err != nil {
			return nil, fmt.Errorf("%s, run %d of %d: %w", o.scenario.name, i+1, o.runs, err)
		}
		rep.runs = append(rep.runs, parts)
	}
	return rep, nil
}
