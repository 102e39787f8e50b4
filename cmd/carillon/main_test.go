package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestScripts runs sessions as users type them: testdata/*.txtar. Beside the
// commands of testscript there are
//
//	carillon ARG…          run the program in a process that others have used; exec runs it in its own
//	dev [ARG…]             run "carillon dev" on free ports in the process of the tests until the script ends, and wait
//	                       until it is ready; exec runs it in its own
//	pipe FILE              the standard input of the next carillon
//	ready FILE             wait for a ports file; sets $HTTP, $NATS, $HTTP_ADDR, $NATS_ADDR, $CARILLON_SERVER,
//	                       $AMQP, $QUEUE, $QUEUE_ADDR, $SERVICE_BUS, $SERVICE_BUS_ADMIN, $STORAGE_QUEUE
//	until PATTERN CMD…     run a command again and again until its output matches
//	refused PATTERN CMD…   run a command again and again until it fails with errors that match
//	keep NAME PATTERN      set a variable to what a pattern's first group matches in the last command's output
//	code N CMD…            run a command, which must exit with N
//	term [N]               send SIGTERM to all commands in the background, or to the one of that number, from 0
//	hangup N               send SIGHUP to the one of that number
//	poll PATTERN URL       ask a URL until what it answers matches
//	insist N               send SIGTERM to that one until it is gone
//	tail PATTERN CMD…      run a command until a line of its output matches, and interrupt it; it must exit with 130
//	http METHOD URL BODY   make a request; the status line and the body become stdout
//	make CONNECTION QUEUE  make a queue, through Azure's SDKs
//	send CONNECTION QUEUE TEXT  send a message, or with ! see that it is refused
//	receive CONNECTION QUEUE    receive a message; its text becomes stdout
//	flood N (CONNECTION QUEUE)…  send to all queues until each has N messages and kill what runs in the background, while
//	                       more are sent; with - for N, send until they are refused
//	salvage (CONNECTION QUEUE)…  see that every message is there that was acknowledged in the last flood
//	certificate CERT KEY   make files for --cert and --key
//	authority NAME LEAF…   make NAME.crt, and by it LEAF.crt and LEAF.key of 127.0.0.1 and of clients
//	publish SUBJECT [BODY]      publish a message on NATS
//	monitored              compare the metrics in the last command's output with the page and with examples/observability
//	exposition FILE        write them to a file
//	dashboard FILE         write what the dashboard asks for to a file, as rules
//	mode OCTAL FILE        check who may read and write a file
//	fill N FILE            make a file of N bytes of text
//	join FILE FROM…        make a file of others
//	unbase64 FROM FILE     make a file of one in base64
//	trust [CERT]           what make is to trust; without a file it uses HTTP for Service Bus
func TestScripts(t *testing.T) {
	t.Parallel() // with tests that wait longer than they compute
	examples := must.Get(filepath.Abs("../../examples"))(t)
	// The go command does not know what the scripts' commands read, and would
	// reuse a result though an example has changed.
	must.Do(t, fs.WalkDir(os.DirFS(examples), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			_, err = os.ReadFile(filepath.Join(examples, path))
		}
		return err
	}))
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			e.Setenv("FREE", "127.0.0.1:0")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			names, err := scriptVariables(strings.TrimPrefix(filepath.Base(e.WorkDir), "script-"), e.Vars)
			e.Values[sessionKey{}] = &session{variables: names}
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"ready": ready, "dev": devHere(t), "carillon": carillon, "pipe": pipe, "until": until, "refused": refused, "code": code, "keep": keep,
			"term": terminate, "calm": calm, "insist": insist, "tail": tail, "http": request,
			"make": makeQueue, "send": send, "receive": receive,
			"flood": flood, "salvage": salvage, "followed": followed, "certificate": certificate, "authority": certify, "trust": trust, "store": put,
			"publish": publish, "monitored": monitored, "hangup": hangup, "poll": poll, "exposition": exposition, "dashboard": dashboard,
			"mode": mode, "fill": fillFile, "begin": beginning, "join": join, "unbase64": unbase64,
		},
	})
}

// patience bounds every wait.
const patience = time.Minute

// eventually polls until ok, less often the longer it takes: each poll costs processor time.
func eventually(ts *testscript.TestScript, what string, ok func() bool) {
	start := time.Now()
	for ; !ok(); <-time.After(min(max(time.Since(start)/4, 10*time.Millisecond), 500*time.Millisecond)) {
		if time.Since(start) > patience {
			ts.Fatalf("waited in vain for %s", what)
		}
	}
}

// devHere is the command dev: starting its servers takes less time than starting a process. Its end is checked after the
// script, where only t can fail.
func devHere(t *testing.T) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		const free = "127.0.0.1:0"
		args = append([]string{"dev", "--http", free, "--nats", free, "--amqp", free, "--queue", free, "--data", ts.MkAbs(".carillon")}, args...)
		s, err := startHere(context.Background(), ts.MkAbs("ports.json"), args...)
		ts.Check(err)
		ts.Defer(func() {
			s.stop()
			if err := <-s.ended; err != nil {
				t.Errorf("%s: dev ended with %v\n%s", ts.Name(), err, s.log)
			}
		})
		ready(ts, false, []string{"ports.json"})
	}
}

func ready(ts *testscript.TestScript, _ bool, args []string) {
	var p listen.Ports
	eventually(ts, args[0], func() bool {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && json.Unmarshal(data, &p) == nil // it is there as a whole or not at all
	})
	_, address, _ := strings.Cut(p.HTTP, "://")
	for name, value := range map[string]string{
		"HTTP": p.HTTP, "NATS": p.NATS, "PPROF": p.Pprof, "METRICS": p.Metrics, "CONSOLE": p.Console, "AMQP": p.AMQP, "QUEUE": p.Queue,
		"HTTP_ADDR": address, "CONSOLE_ADDR": strings.TrimPrefix(p.Console, "http://"), "NATS_ADDR": strings.TrimPrefix(p.NATS, "nats://"),
		"QUEUE_ADDR": strings.TrimPrefix(p.Queue, "http://"), "SERVICE_BUS": p.ServiceBus, "SERVICE_BUS_ADMIN": p.ServiceBusAdmin,
		"STORAGE_QUEUE": p.StorageQueue, "CARILLON_SERVER": p.HTTP,
	} {
		ts.Setenv(name, value)
		ts.Value(sessionKey{}).(*session).variables[name] = true
	}
}

// calm fails if the last command wrote a line to stderr that matches, unless it is that the disk of this machine gets full.
func calm(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: calm PATTERN")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if pattern.MatchString(line) && !strings.Contains(line, "the disk of the NATS server") {
			ts.Fatalf("unexpected on stderr: %s", line)
		}
	}
}

func terminate(ts *testscript.TestScript, _ bool, args []string) {
	for i, c := range ts.BackgroundCmds() {
		if len(args) == 0 || args[0] == strconv.Itoa(i) {
			ts.Check(c.Process.Signal(syscall.SIGTERM))
		}
	}
}

func insist(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	p := ts.BackgroundCmds()[n].Process
	eventually(ts, "the end of "+args[0], func() bool { return p.Signal(syscall.SIGTERM) != nil })
}

func tail(ts *testscript.TestScript, _ bool, args []string) {
	cmd, _ := watched(ts, args[0], args[1:], func(p *os.Process) { _ = p.Signal(os.Interrupt) }) // the exit code says how it ended
	if code := cmd.ExitCode(); code != terminal.ExitInterrupted {
		ts.Fatalf("exit code %d", code)
	}
}

// followed runs a live tail, and another command once a line matches: what makes
// the tail end by itself. Its output is the script's.
//
//	followed PATTERN 'carillon delete job' carillon history --follow job
func followed(ts *testscript.TestScript, _ bool, args []string) {
	cmd, text := watched(ts, args[0], args[2:], func(*os.Process) {
		other := strings.Fields(args[1])
		ts.Check(ts.Exec(other[0], other[1:]...))
	})
	_, err := ts.Stdout().Write([]byte(text))
	ts.Check(err)
	if !cmd.Success() {
		ts.Fatalf("%s:\n%s", cmd, text)
	}
}

// watched runs a command to its end, and calls then once a line of its output matches.
func watched(ts *testscript.TestScript, pattern string, args []string, then func(*os.Process)) (*os.ProcessState, string) {
	matches, err := regexp.Compile(pattern)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.CommandContext(ctx, path, args[1:]...)
	cmd.Env = append(os.Environ(), "CARILLON_SERVER="+ts.Getenv("CARILLON_SERVER"))
	cmd.Stderr = ts.Stderr()
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	lines, seen := bufio.NewScanner(out), false
	lines.Buffer(nil, 1<<20)
	var text strings.Builder
	for lines.Scan() {
		_, _ = text.WriteString(lines.Text() + "\n")
		if !seen && matches.MatchString(lines.Text()) {
			seen = true
			then(cmd.Process)
		}
	}
	_ = cmd.Wait() // the state says how it ended
	if !seen {
		ts.Fatalf("no line matches %s:\n%s", pattern, text.String())
	}
	return cmd.ProcessState, text.String()
}

func request(ts *testscript.TestScript, _ bool, args []string) {
	body := ""
	if len(args) > 2 {
		body = args[2]
	}
	req, err := http.NewRequest(args[0], args[1], strings.NewReader(body))
	ts.Check(err)
	for _, header := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(header, ": ")
		req.Header.Set(name, value)
	}
	req.Host = req.Header.Get("Host")
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	ts.Check(err)
	_, err = ts.Stdout().Write(append([]byte(resp.Status+"\n"), data...))
	ts.Check(err)
}

func keep(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("the output does not match %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}
