package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
	}
	stop()
	os.Exit(code)
}

// command runs the arguments and returns the exit code: 1 after a failure, 2 for invalid arguments.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	asJSON := flags.Bool("json", false, "write a line of JSON for each client and operation instead of the table")
	list := flags.Bool("list", false, "list the clients instead of running them")
	atOnce := flags.Int("at-once", 1, "how many suites run in parallel; times are meaningful only with 1")
	patience := flags.Duration("patience", 3*time.Minute, "how long the suite of a client may take")
	flags.Usage = func() {
		fmt.Fprint(stderr, "usage: go run ./integration/suite/sdk/run [-json] [-list] [-at-once N] [-patience TIME] [WORD ...]\n\n"+
			"Drives the emulators through the clients that have one of the words in their names, or all of them.\n\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return 2, nil
	}
	some, err := chosen(flags.Args())
	if err != nil {
		return 2, err
	}
	if *list {
		for _, c := range some {
			fmt.Fprintf(stdout, "%-32s %s\n", c.name, c.from)
		}
		return 0, nil
	}
	sdk, err := folder(ctx)
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "carillon-clients")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	results, err := runAll(ctx, newRunner(sdk, dir, *patience), some, max(*atOnce, 1), stderr)
	if err != nil {
		return 1, err
	}
	return report(results, *asJSON, stdout)
}

// folder returns the folder integration/suite/sdk, from any working directory in the module.
func folder(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("go list: %w; start it within the module", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "integration", "suite", "sdk"), nil
}

// runAll runs the suites of clients, at most atOnce concurrently, and reports each result. The results are in
// the order of the clients.
func runAll(ctx context.Context, r *runner, some []client, atOnce int, stderr io.Writer) ([]result, error) {
	all := make([][]result, len(some))
	told := log.New(stderr, "", 0) // takes lines from several suites
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, c := range some {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			begin := time.Now()
			all[i] = r.run(ctx, c)
			told.Printf("%-32s %s (%.1f s)", c.name, summary(all[i]), time.Since(begin).Seconds())
			return nil
		})
	}
	if err := group.Wait(); err != nil || ctx.Err() != nil {
		return nil, errors.New("interrupted")
	}
	return slices.Concat(all...), nil
}

// summary counts results, for progress messages.
func summary(results []result) string {
	if len(results) == 1 && results[0].Operation == "" && results[0].Result == notRun {
		return "NOT RUN"
	}
	passed := 0
	for _, r := range results {
		if r.Result == pass {
			passed++
		}
	}
	return fmt.Sprintf("%d of %d passed", passed, len(results))
}

// report prints the table, or lines of JSON, and returns the exit code.
func report(results []result, asJSON bool, stdout io.Writer) (int, error) {
	table := stdout
	if asJSON {
		table = io.Discard
		lines := json.NewEncoder(stdout)
		for _, r := range results {
			if err := lines.Encode(r); err != nil {
				return 1, err
			}
		}
	} else {
		fmt.Fprintln(stdout)
	}
	if !printTable(table, results) {
		return 1, nil
	}
	return 0, nil
}
