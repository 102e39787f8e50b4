package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
)

// TestMain also is the program: the test binary is linked as carillon, for processes, and as carillon-runner.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "carillon":
		main()
	case "carillon-runner":
		serveOrders()
	default:
		os.Exit(withProgram(m.Run))
	}
}

// withProgram runs tests with carillon in the path. With the race detector, it is a binary without it, which starts four
// times as fast: packages node, worker and others test with the detector what runs concurrently.
func withProgram(tests func() int) int {
	dir, err := os.MkdirTemp("", "carillon-test-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		program, runner := filepath.Join(dir, "carillon"), filepath.Join(dir, "carillon-runner")
		if bubble.RaceDetector {
			var out []byte
			if out, err = exec.Command("go", "test", "-c", "-o", program, ".").CombinedOutput(); err != nil {
				err = fmt.Errorf("%w\n%s", err, out)
			}
		} else if exe, missing := os.Executable(); missing == nil {
			err = os.Symlink(exe, program)
		}
		err = cmp.Or(err, os.Symlink(program, runner), os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH")))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if !bubble.RaceDetector {
		_ = flag.Set("test.parallel", strconv.Itoa(sideBySide)) // a default: the command line is parsed later
	}
	return tests()
}

// sideBySide is how many scripts run at the same time: most of them wait for a process that starts, or for the next second. With
// the race detector, the tests of clusters need the processors for themselves.
const sideBySide = 6

// runner is a process that executes the commands of scripts one after the other, without a start of the program for each.
type runner struct {
	process *os.Process
	in      *json.Encoder
	out     *json.Decoder
}

// order is a command for a runner.
type order struct {
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
	In   []byte   `json:"in"`
	Args []string `json:"args"`
}

// result is how a command ended.
type result struct {
	Out  []byte `json:"out"`
	Err  []byte `json:"err"`
	Code int    `json:"code"`
}

// serveOrders executes orders until there are no more.
func serveOrders() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for o := (order{}); in.Decode(&o) == nil; o = (order{}) {
		os.Clearenv()
		for _, e := range o.Env {
			name, value, _ := strings.Cut(e, "=")
			_ = os.Setenv(name, value)
		}
		var r result
		if err := os.Chdir(o.Dir); err != nil {
			r = result{Err: []byte(err.Error()), Code: -1}
		} else {
			var stdout, stderr bytes.Buffer
			t := &terminal.Terminal{
				In: bytes.NewReader(o.In), Out: &stdout, Err: &stderr, Lookup: os.LookupEnv, Version: thisBuild().Version,
			}
			r.Code = run(o.Args, t)
			r.Out, r.Err = stdout.Bytes(), stderr.Bytes()
		}
		_ = out.Encode(r) //nolint:errchkjson // whoever asked has gone
	}
}

// runners are those that have nothing to do.
var runners = make(chan *runner, 64)

func startRunner() (*runner, error) {
	path, err := exec.LookPath("carillon-runner")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &runner{cmd.Process, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

func (o order) execute() (r result, err error) {
	var s *runner
	select {
	case s = <-runners:
	default:
		if s, err = startRunner(); err != nil {
			return r, err
		}
	}
	defer time.AfterFunc(5*patience, func() { _ = s.process.Kill() }).Stop()
	if err = s.in.Encode(o); err == nil {
		err = s.out.Decode(&r)
	}
	if err != nil {
		_ = s.process.Kill()
		_, _ = s.process.Wait()
		return r, fmt.Errorf("the runner has ended: %w", err)
	}
	select {
	case runners <- s:
	default:
		_ = s.process.Kill()
	}
	return r, nil
}

// session is what commands of a script get in addition to their arguments.
type session struct {
	in        []byte          // of the next one
	variables map[string]bool // by name: whether commands get it even if it is empty
}

type sessionKey struct{}

// scriptVariables are the variables that scripts begin with, and all that they set. Commands get an empty variable only if the
// script clears it: it may not be set yet otherwise.
func scriptVariables(script string, first []string) (names map[string]bool, err error) {
	names = map[string]bool{}
	for _, v := range first {
		name, _, _ := strings.Cut(v, "=")
		names[name] = false
	}
	files, err := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, set := range regexp.MustCompile(`(?m)\b(?:env|keep) (\w+)`).FindAllSubmatch(data, -1) {
			names[string(set[1])] = false
		}
	}
	data, missing := os.ReadFile(filepath.Join("testdata", script+".txtar"))
	for _, cleared := range regexp.MustCompile(`(?m)^env (\w+)=$`).FindAllSubmatch(data, -1) {
		names[string(cleared[1])] = true
	}
	return names, cmp.Or(err, missing)
}

// execute runs a command to its end: the program in a runner, any other as a process.
func execute(ts *testscript.TestScript, args []string) result {
	if args[0] != "carillon" {
		err := ts.Exec(args[0], args[1:]...)
		r := result{Out: []byte(ts.ReadFile("stdout")), Err: []byte(ts.ReadFile("stderr"))}
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			r.Code = exit.ExitCode()
		} else {
			ts.Check(err)
		}
		return r
	}
	session := ts.Value(sessionKey{}).(*session)
	o := order{Dir: ts.MkAbs("."), In: session.in, Args: args[1:]}
	session.in = nil
	for name, empty := range session.variables {
		if v := ts.Getenv(name); v != "" || empty {
			o.Env = append(o.Env, name+"="+v)
		}
	}
	r, err := o.execute()
	ts.Check(err)
	return r
}

// print has what a command printed be the output of the script's command.
func (r result) print(ts *testscript.TestScript) {
	_, _ = ts.Stdout().Write(r.Out)
	_, _ = ts.Stderr().Write(r.Err)
}

// pipe has a file be the standard input of the next command.
func pipe(ts *testscript.TestScript, _ bool, args []string) {
	ts.Value(sessionKey{}).(*session).in = []byte(ts.ReadFile(args[0]))
}

// carillon runs the program, which must end well.
func carillon(ts *testscript.TestScript, neg bool, args []string) {
	r := execute(ts, append([]string{"carillon"}, args...))
	r.print(ts)
	if (r.Code == 0) == neg {
		ts.Fatalf("exit code %d", r.Code)
	}
}

// code runs the program, which must end with a code.
func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	r := execute(ts, args[1:])
	r.print(ts)
	if r.Code != want {
		ts.Fatalf("exit code %d, want %d", r.Code, want)
	}
}

// until runs the program until its output matches.
func until(ts *testscript.TestScript, _ bool, args []string) {
	repeat(ts, args, func(r result, pattern *regexp.Regexp) bool { return r.Code == 0 && pattern.Match(r.Out) })
}

// refused is until for a command that is to fail: its errors match.
func refused(ts *testscript.TestScript, _ bool, args []string) {
	repeat(ts, args, func(r result, pattern *regexp.Regexp) bool { return r.Code != 0 && pattern.Match(r.Err) })
}

func repeat(ts *testscript.TestScript, args []string, ok func(result, *regexp.Regexp) bool) {
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var r result
	defer func() { r.print(ts) }()
	session := ts.Value(sessionKey{}).(*session)
	in := session.in
	eventually(ts, args[0], func() bool {
		session.in = in // of each attempt
		r = execute(ts, args[1:])
		return ok(r, pattern)
	})
}
