package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	name     string // of the scenario
	scenario scenario
	n        int
	seconds  float64
	rate     int
	calls    int
	interval time.Duration
	warmup   time.Duration
	window   time.Duration
	ahead    time.Duration
	idle     time.Duration
	shape    string
	conn     string
	sync     string
	dir      string
	order    string
	runs     int
	baseline bool
	restart  bool
	json     bool
	quiet    bool

	cpuProfile string
	memProfile string
	profiles   string
	carillon   string
	natsServer string
	killAt     float64
}

// syncAlways is the value of -sync with which each write waits for the disk.
const syncAlways = "always"

// defaultProfiles is where the scenario profile writes its files.
const defaultProfiles = "carillon-profiles"

// The ways to connect to the server.
const (
	connTCP       = "tcp"
	connInProcess = "inprocess"
)

// The orders of a measurement and its baseline.
const (
	orderAlternate = "alternate"
	orderCarillon  = "carillon"
	orderBare      = "bare"
)

// flags declares the command line.
func (o *options) flags() *flag.FlagSet {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are written by run, help by writeHelp
	f.StringVar(&o.name, "scenario", "", "`one of` "+strings.Join(scenarioNames(), ", "))
	f.IntVar(&o.n, "n", 0, "how many `jobs`, specs, records or repetitions; steady, api: occurrences to measure, in place of -seconds")
	f.IntVar(&o.rate, "rate", 0, "steady, api, console: `occurrences` a second; default 500, and 1000 of api")
	f.IntVar(&o.calls, "calls", 200, "api: `calls` a second, by turns a GET and a PUT, each tenth a list")
	f.Float64Var(&o.seconds, "seconds", 20, "steady, api: `length` of the measurement in seconds")
	f.DurationVar(&o.warmup, "warmup", 5*time.Second, "steady, api, console: `time` that the jobs run before it")
	f.DurationVar(&o.interval, "interval", 10*time.Second, "steady, api, console: whole seconds between the occurrences of a job")
	f.DurationVar(&o.ahead, "ahead", 0, "herd, steady: `time` for the registration before the first instant is due; 0 takes a guess by -n")
	f.DurationVar(&o.idle, "idle", 10*time.Second, "hold: `time` without work before the memory is read")
	f.StringVar(&o.shape, "shape", shapeOne, "`shape` of what is measured: one process for all, or processes: nats-server, carillon serve"+
		" and the sink\nare processes of their own, over TCP; the scenarios kill and profile always are")
	f.StringVar(&o.sync, "sync", "", "how long a write may wait for the disk: a `duration`, or always; default the server's, or 1s")
	f.StringVar(&o.carillon, "carillon", "", "processes: the carillon to run, a `file`; default one that is built of this source")
	f.StringVar(&o.natsServer, "nats-server", "", "processes: the nats-server to run, a `file`; default the one of go.mod")
	f.StringVar(&o.profiles, "profiles", "", "processes: write what keeps nats-server and carillon busy in the measured phase, and their\n"+
		"memory, to this `directory`; the scenario profile has "+defaultProfiles+" unless given")
	f.Float64Var(&o.killAt, "kill-at", 0.1, "kill: the `part` of the calls that have come when the worker is killed; 0: the instant")
	f.StringVar(&o.conn, "conn", connInProcess, "how the scheduler reaches the server: tcp or inprocess, which is what carillon dev uses")
	f.StringVar(&o.dir, "dir", "", "where the data directory is made, and removed in the end; default the system's for temporary files")
	f.StringVar(&o.order, "order", orderAlternate, "herd: which comes first: carillon, bare, or alternate between the runs")
	f.IntVar(&o.runs, "runs", 1, "how `often` to measure; the medians are printed")
	f.BoolVar(&o.baseline, "baseline", true, "herd: measure the bare baseline too")
	f.BoolVar(&o.restart, "restart", true, "hold: start again on the same directory")
	f.BoolVar(&o.json, "json", false, "print one JSON object in place of the table")
	f.BoolVar(&o.quiet, "quiet", false, "no progress on stderr")
	f.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of the measured phase of Carillon's part to `file`")
	f.StringVar(&o.memProfile, "memprofile", "", "write all allocations to `file` when that phase ends, and to file.base when it begins")
	return f
}

// readOptions reads the command line.
func readOptions(args []string) (options, error) {
	var o options
	f := o.flags()
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == o.name })
	if i < 0 {
		return o, fmt.Errorf("-scenario %q: must be one of %s", o.name, strings.Join(scenarioNames(), ", "))
	}
	o.scenario = scenarios[i]
	o.window = time.Duration(o.seconds * float64(time.Second))
	o.rate = cmp.Or(o.rate, o.scenario.rate, 1)
	if o.scenario.rate > 0 && !o.scenario.kept && o.n > 0 {
		o.window = time.Duration(o.n) * time.Second / time.Duration(max(1, o.rate))
	}
	o.n = cmp.Or(o.n, o.scenario.n)
	if o.scenario.apart {
		o.shape = shapeProcesses
	}
	if o.scenario.name == "profile" {
		o.profiles = cmp.Or(o.profiles, defaultProfiles)
	}
	if o.apart() {
		o.conn = connTCP
	}
	err := o.check()
	return o, err
}

func (o *options) check() error {
	var problems []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	wrong(o.n < 0 || o.n == 0 && o.scenario.n > 0, "-n %d: must be positive", o.n)
	wrong(o.rate < 1, "-rate %d: must be positive", o.rate)
	wrong(o.calls < 1, "-calls %d: must be positive", o.calls)
	wrong(o.runs < 1, "-runs %d: must be positive", o.runs)
	wrong(o.window <= 0, "-seconds %s: must be positive", o.window)
	wrong(o.warmup < 0, "-warmup %s: must not be negative", o.warmup)
	wrong(o.interval < time.Second || o.interval%time.Second != 0 || o.interval > 1000*time.Second,
		"-interval %s: must be 1 to 1000 whole seconds", o.interval)
	wrong(o.shape != shapeOne && o.shape != shapeProcesses, "-shape %q: must be one or processes", o.shape)
	wrong(o.shape == shapeProcesses && o.scenario.name == "next", "-shape processes: next times single steps, in this process")
	wrong(o.apart() && (o.cpuProfile != "" || o.memProfile != ""),
		"-cpuprofile, -memprofile: they are of this process; of the others, -profiles DIR writes both")
	wrong(!o.apart() && o.profiles != "", "-profiles: it is for -shape processes; of this process, -cpuprofile and -memprofile write them")
	wrong(!o.apart() && o.carillon+o.natsServer != "", "-carillon, -nats-server: they are for -shape processes")
	wrong(o.killAt < 0 || o.killAt >= 1, "-kill-at %g: must be at least 0, and less than 1", o.killAt)
	pause, err := time.ParseDuration(o.sync)
	wrong(o.sync != "" && o.sync != syncAlways && (err != nil || pause <= 0), "-sync %q: must be a duration such as 1s, or always", o.sync)
	wrong(o.conn != connTCP && o.conn != connInProcess, "-conn %q: must be tcp or inprocess", o.conn)
	wrong(o.order != orderAlternate && o.order != orderCarillon && o.order != orderBare,
		"-order %q: must be alternate, carillon or bare", o.order)
	return errors.Join(problems...)
}

// lead is the time from the start to the first due instant: enough for the
// registration at a rate well below what was measured.
func (o *options) lead(jobs int) time.Duration {
	switch {
	case o.ahead > 0:
		return o.ahead
	case o.apart():
		return herdQuiet(jobs) + 7*time.Second + time.Duration(jobs)*time.Second/2000
	}
	return herdQuiet(jobs) + 3*time.Second + time.Duration(jobs)*time.Second/2500
}
