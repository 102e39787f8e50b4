package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	r := run{out: os.Stdout}
	f := fresh{out: os.Stdout}
	flag.StringVar(&r.profile, "profile", "local", "profile of the compose file: local or cluster")
	flag.BoolVar(&r.pull, "pull", false, "pull the base images instead of substitutes")
	clone := flag.Bool("fresh", false, "try the README's two commands in a clone in an empty container, instead of the stack")
	flag.StringVar(&f.tests, "tests", "-short ./...", "with -fresh: `arguments` of go test; empty: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	all := r.all
	if *clone {
		all = f.all
	}
	err := all(ctx)
	if none, ok := errors.AsType[absence](err); ok {
		fmt.Println("NOT RUN:", none)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

// run is one run of the stack.
type run struct {
	profile string
	pull    bool
	out     io.Writer
	docker  engine
	figures figures
}

// figures are the measurements of a run.
type figures struct {
	Profile       string   `json:"profile"`
	StandIns      []string `json:"standIns"`
	FirstSeconds  float64  `json:"secondsToFirstOfEach"`   // from "up", with the images there, to a delivery of each type
	ReplicaGap    float64  `json:"longestGapReplica"`      // between two deliveries while a scheduler was killed
	NATSGap       float64  `json:"longestGapNATS"`         // while a NATS server was killed
	RestartGap    float64  `json:"secondsToFirstAfterEnd"` // from "up" after "down" to a delivery of each type
	Occurrences   int      `json:"occurrences"`
	Repeated      int      `json:"repeated"` // deliveries beyond the first of an occurrence
	LatestSeconds float64  `json:"latestSeconds"`
}

// patience bounds each wait.
const patience = 3 * time.Minute

// all runs all steps, and always stops the stack.
func (r *run) all(ctx context.Context) (err error) {
	stack, known := stacks[r.profile]
	if !known {
		return fmt.Errorf("no profile %q: local, cluster", r.profile)
	}
	if r.docker, err = findEngine(ctx, r.profile); err != nil {
		return err
	}
	r.figures.Profile = r.profile
	r.figures.StandIns = []string{}
	if err := r.build(ctx); err != nil {
		return err
	}
	defer r.clear(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			r.tellLogs(context.WithoutCancel(ctx))
		}
	}()
	if err := r.play(ctx, stack); err != nil {
		return err
	}
	data, err := json.Marshal(r.figures)
	if err == nil {
		fmt.Fprintf(r.out, "%s\n", data)
	}
	return err
}

// stack names the services of a profile that are killed and read.
type stack struct{ replica, nats, consumer string }

var stacks = map[string]stack{
	"local":   {"serve-b", "nats", "consumer"},
	"cluster": {"cluster-serve-b", "nats-2", "cluster-consumer"},
}

// play is what happens to the stack.
func (r *run) play(ctx context.Context, s stack) error {
	seen := newSeen()
	follow, stop := context.WithCancel(ctx)
	defer stop()
	r.say("up")
	start := time.Now()
	if err := r.docker.up(ctx); err != nil {
		return err
	}
	ended := r.docker.follow(follow, s.consumer, seen.line)
	if err := seen.wait(ctx, start, kinds...); err != nil {
		return err
	}
	r.figures.FirstSeconds = time.Since(start).Seconds()

	gap, err := r.during(ctx, seen, s.replica)
	if err != nil {
		return err
	}
	r.figures.ReplicaGap = gap
	if gap, err = r.during(ctx, seen, s.nats); err != nil {
		return err
	}
	r.figures.NATSGap = gap

	r.say("down")
	if err := r.docker.compose(ctx, "down"); err != nil {
		return err
	}
	<-ended // the consumer's log is read to its end
	r.say("up again")
	start = time.Now()
	if err := r.docker.up(ctx); err != nil {
		return err
	}
	r.docker.follow(follow, s.consumer, seen.line)
	if err := seen.wait(ctx, start, kinds...); err != nil {
		return err
	}
	r.figures.RestartGap = time.Since(start).Seconds()
	return r.compare(ctx, seen)
}

// during kills a service and restarts it: once deliveries have resumed, or immediately if they cannot without
// it. It returns the longest time between two deliveries.
func (r *run) during(ctx context.Context, seen *seen, service string) (gap float64, err error) {
	r.say("kill " + service)
	killed := time.Now()
	if err := r.docker.compose(ctx, "kill", service); err != nil {
		return 0, err
	}
	if service != "nats" {
		if err := seen.wait(ctx, time.Now(), kinds...); err != nil {
			return 0, err
		}
	}
	r.say("start " + service)
	if err := r.docker.compose(ctx, "start", service); err != nil {
		return 0, err
	}
	if err := seen.wait(ctx, time.Now(), kinds...); err != nil {
		return 0, err
	}
	return seen.longestGap(killed).Seconds(), nil
}

func (r *run) say(what string) { say(r.out, what) }

// say prints the current step.
func say(out io.Writer, what string) {
	fmt.Fprintf(out, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), what)
}
