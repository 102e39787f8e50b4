//go:build !windows

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/integration/testkit/logtest"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestTour runs every command of the tour in a shell, as written but for addresses, and compares what it prints. It
// needs Go and a shell; commands of curl are left out where there is none.
func TestTour(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the example programs; run without -short")
	}
	w := newWalk(t)
	for _, c := range tourCommands(t) {
		if _, err := exec.LookPath("curl"); err != nil && strings.HasPrefix(c.line, "curl ") {
			t.Logf("%s: there is no curl", c)
			continue
		}
		if c.terminal {
			w.start(c)
		} else {
			w.run(c)
		}
	}
}

// TestTourSteps counts the steps of the tour, each of which leads on to a page.
func TestTourSteps(t *testing.T) {
	steps := regexp.MustCompile(`(?m)^## \d+\. `).Split(read(t, tourFile), -1)[1:]
	if len(steps) != 11 {
		t.Errorf("the tour has %d steps", len(steps))
	}
	for i, step := range steps {
		if !strings.Contains(step, "```console") || !strings.Contains(step, "](../cmd/carillon/docs/") {
			t.Errorf("step %d has no command, or no link to a page", i+1)
		}
	}
}

// TestTourNamesAll looks for a link to every folder and file of the examples.
func TestTourNamesAll(t *testing.T) {
	text, folder := read(t, tourFile), filepath.Join(root, "examples")
	must.Do(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		nested := path == "compose/jobs" // whose files are named
		if err == nil && path != "." && path != "README.md" && !nested && !strings.HasSuffix(path, "_test.go") && !strings.Contains(text, "]("+path+")") {
			t.Errorf("%s does not name %s", tourFile, path)
		}
		return err
	}))
}

// tourCommand is a command of the tour.
type tourCommand struct {
	line     string
	shown    []string // what it prints
	terminal bool     // it goes on, in a terminal of its own
	at       int      // its line in the tour
}

func (c tourCommand) String() string { return fmt.Sprintf("%s:%d: %s", tourFile, c.at, c.line) }

// tourCommands are those in the blocks of the tour: "$ " begins one, "> " goes on with it.
func tourCommands(t *testing.T) []tourCommand {
	t.Helper()
	var list []tourCommand
	open, terminal := false, false
	for i, line := range strings.Split(read(t, tourFile), "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		command, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isFence:
			open, terminal = strings.HasPrefix(fence, "console"), fence == "console terminal"
		case !open:
		case isCommand:
			list = append(list, tourCommand{line: command, terminal: terminal, at: i + 1})
		case isMore:
			list[len(list)-1].line += "\n" + more
		default:
			c := &list[len(list)-1]
			c.shown = append(c.shown, line)
		}
	}
	if len(list) < 20 {
		t.Fatalf("only %d commands were found", len(list))
	}
	return list
}

// tourRules are what differs from one time to the next, and what stands for it in the comparison.
var tourRules = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d\.\d+( ?Z)?`), "MOMENT"},
	{regexp.MustCompile(`\+?\d+(\.\d+)? ?(ns|µs|ms)\b`), "DURATION"},
	{regexp.MustCompile(`\b(now|in [\ddhms.]+|in DURATION)(, retry \d)?  +(-|[\dhms.]+ ago|DURATION ago)`), "NEXT LAST"},
	{regexp.MustCompile(`- +([\dhms.]+|DURATION) ago`), "- LAST"},
	{regexp.MustCompile(`LAST +\d+ +\d+ `), "LAST RUNS FAILED "},
	{regexp.MustCompile(`\d+ → \d+`), "REVISIONS"},
	{regexp.MustCompile(`\b\d{10,}\b`), "NUMBER"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UUID"},
	{regexp.MustCompile(`"[A-Z2-7]{8}-\d+"`), `"ETAG"`},
	{regexp.MustCompile(` +`), " "},
}

// likened returns a line with its rules applied.
func likened(line string) string {
	for _, r := range tourRules {
		line = r.pattern.ReplaceAllString(line, r.with)
	}
	return strings.TrimSpace(line)
}

// matches reports whether a line is as shown, in which … stands for any text.
func matches(shown, line string) bool {
	return likenedPattern(shown).MatchString(likened(line))
}

func likenedPattern(shown string) *regexp.Regexp {
	parts := strings.Split(likened(shown), "…")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

// alike compares all of an output; a line of … alone stands for any lines. It returns the first line that is missing.
func alike(shown []string, output string) (missing string) {
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if output == "" {
		lines = nil
	}
	shown = slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return s == "" })
	lines = slices.DeleteFunc(lines, func(s string) bool { return strings.TrimSpace(s) == "" })
	skip := false
	for _, s := range shown {
		if s == "…" {
			skip = true
			continue
		}
		for skip && len(lines) > 0 && !matches(s, lines[0]) {
			lines = lines[1:]
		}
		if len(lines) == 0 || !matches(s, lines[0]) {
			return s
		}
		lines, skip = lines[1:], false
	}
	if len(lines) > 0 && !skip {
		return "the end, before: " + lines[0]
	}
	return ""
}

// walk is the folder and the environment that the tour's commands run in.
type walk struct {
	*testing.T

	dir   string
	env   []string
	ports map[string]string // where the tour's addresses really are
}

func newWalk(t *testing.T) *walk {
	t.Helper()
	w := &walk{T: t, dir: t.TempDir(), ports: map[string]string{}}
	repository, err := filepath.Abs(root)
	w.must(err)
	w.must(os.CopyFS(filepath.Join(w.dir, "examples"), os.DirFS(filepath.Join(repository, "examples"))))
	bin := filepath.Join(w.dir, "bin")
	w.must(os.Mkdir(bin, 0o700))
	goTool, err := exec.LookPath("go")
	w.must(err)
	w.must(os.WriteFile(filepath.Join(bin, "go"), fmt.Appendf(nil, goRun, goTool, repository, bin), 0o700))
	w.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "TZ=UTC",
		"CARILLON_CONFIG="+filepath.Join(w.dir, "config.yaml"))
	return w
}

// goRun is what "go run ./examples/NAME ARGUMENTS" does in the tour: the program is built of the repository, and runs where
// it was typed.
const goRun = `#!/bin/sh
program=${2#./examples/}
%[1]q build -C %[2]q -o %[3]q/"$program" "./examples/$program" || exit
shift 2
exec %[3]q/"$program" "$@"
`

func (w *walk) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// command is a command in a shell, with the addresses as they really are.
func (w *walk) command(line string) *exec.Cmd {
	for _, shown := range slices.Sorted(maps.Keys(w.ports)) {
		line = strings.ReplaceAll(line, shown, w.ports[shown])
	}
	if program, ok := strings.CutPrefix(line, "go run ./examples/"); ok && len(strings.Fields(program)) == 1 {
		line += " " + w.arguments(program)
	}
	cmd := exec.CommandContext(context.WithoutCancel(w.Context()), "sh", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = slices.Concat(w.env, []string{"CARILLON_SERVER=http://" + w.ports["127.0.0.1:8080"]})
	return cmd
}

// arguments are the addresses that a program takes when they are not the usual ones.
func (w *walk) arguments(program string) string {
	api := "http://" + w.ports["127.0.0.1:8080"]
	server := api
	if program == "publish" {
		server = "nats://" + w.ports["127.0.0.1:4222"]
	}
	return server + " " + api + "/echo"
}

// shown returns output with the addresses of the tour.
func (w *walk) shown(output string) string {
	for shown, actual := range w.ports {
		output = strings.ReplaceAll(output, actual, shown)
	}
	return output
}

// again are the commands that look at what has happened, and may come too early.
var again = regexp.MustCompile(`^carillon (get|history|why|health) |^curl -s http`)

// run runs a command and compares what it prints.
func (w *walk) run(c tourCommand) {
	w.Helper()
	for deadline := time.Now().Add(2 * patience); ; {
		cmd := w.command(c.line)
		out, err := cmd.CombinedOutput()
		output := w.shown(string(out))
		missing := alike(c.shown, output)
		refused := strings.Contains(strings.Join(c.shown, "\n"), "carillon: error: ")
		if missing == "" && (err != nil) == refused {
			return
		}
		if !again.MatchString(c.line+" ") || time.Now().After(deadline) {
			w.Fatalf("%s\n%v\n%s\nmissing: %s", c, err, output, missing)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// start starts a command that goes on, on free ports, and waits for the addresses. What it shows has to come until the
// end of the test, when it is stopped.
func (w *walk) start(c tourCommand) {
	w.Helper()
	line, file := w.free(c.line)
	cmd := w.command("exec " + line)
	out := &logtest.Log{}
	cmd.Stdout, cmd.Stderr = out, out
	w.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if file != "" {
		w.learn(c, file, out)
	}
	w.Cleanup(func() {
		defer func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := <-ended; err != nil {
				w.Errorf("%s: ended with %v\n%s", c, err, out)
			}
		}()
		w.await(c, out)
	})
}

// await waits for the lines that a command in a terminal of its own shows.
func (w *walk) await(c tourCommand, out *logtest.Log) {
	for deadline := time.Now().Add(patience); ; <-time.After(100 * time.Millisecond) {
		lines := strings.Split(w.shown(out.String()), "\n")
		missing := slices.IndexFunc(c.shown, func(s string) bool {
			return !slices.ContainsFunc(lines, func(line string) bool { return matches(s, line) })
		})
		if missing < 0 {
			return
		}
		if time.Now().After(deadline) {
			w.Errorf("%s\nmissing: %s\n%s", c, c.shown[missing], strings.Join(lines, "\n"))
			return
		}
	}
}

// free lets a command listen on free ports, and tell them in a file.
func (w *walk) free(line string) (changed, file string) {
	switch {
	case strings.HasPrefix(line, "carillon dev --ports-file ports.json "):
		return line + " --http 127.0.0.1:0 --nats 127.0.0.1:0 --amqp 127.0.0.1:0 --queue 127.0.0.1:0", "ports.json"
	case strings.HasPrefix(line, "carillon serve "):
		return strings.Replace(line, "127.0.0.1:8081", "127.0.0.1:0", 1) + " --ports-file serve.json", "serve.json"
	}
	return line, ""
}

// learn waits for a file of ports.
func (w *walk) learn(c tourCommand, file string, out *logtest.Log) {
	w.Helper()
	var p listen.Ports
	for deadline := time.Now().Add(patience); ; <-time.After(10 * time.Millisecond) {
		data, err := os.ReadFile(filepath.Join(w.dir, file))
		if err == nil && json.Unmarshal(data, &p) == nil {
			break
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s: there is no %s\n%s", c, file, out)
		}
	}
	if strings.HasPrefix(c.line, "carillon serve") {
		w.ports["127.0.0.1:8081"] = strings.TrimPrefix(p.HTTP, "http://")
		return
	}
	w.ports["127.0.0.1:8080"] = strings.TrimPrefix(p.HTTP, "http://")
	w.ports["127.0.0.1:4222"] = strings.TrimPrefix(p.NATS, "nats://")
	w.ports["127.0.0.1:5672"] = p.AMQP
	w.ports["127.0.0.1:10001"] = strings.TrimPrefix(p.Queue, "http://")
}

// TestTourComparison: what differs each time is alike, and nothing else.
func TestTourComparison(t *testing.T) {
	for _, test := range []struct {
		shown, output, missing string
	}{
		{"12:11:05.052  default/hello  completed  +34.1 ms  200 in 2.2 ms", "09:00:00.1  default/hello  completed  +0.4 ms  200 in 12 µs", ""},
		{"12:11:05.052  default/hello  completed  +34.1 ms  200 in 2.2 ms", "12:11:05.052  default/hello  failed  +34.1 ms  200 in 2.2 ms", "*"},
		{"j  enabled  in 1s  4s ago  1  0  at once", "j  enabled  now  1m2s ago  12  3  at once", ""},
		{"j  enabled  in 1s  4s ago  1  0  at once", "j  disabled  in 1s  4s ago  1  0  at once", "*"},
		{"j  enabled  in 9h49m  -  0  0  at once", "j  enabled  in 2d7h  -  0  0  at once", ""},
		{"j  completed  -  9s ago  1  0  once", "j  completed  -  12ms ago  2  0  once", ""},
		{"at 10:00, UTC\n2026-03-06T22:00Z", "at 10:00, UTC\n2026-03-06T22:01Z", "2026-03-06T22:00Z"},
		{"a\n…\nd", "a\nb\nc\nd\n", ""},
		{"a\n…", "a\n", ""},
		{"a\n…\nd", "a\nb\n", "d"},
		{"a", "a\nb\n", "the end, before: b"},
		{"", "", ""},
		{"{…\"status\":\"Completed\",…}", "{\"version\":2,\"status\":\"Completed\",\"x\":1}", ""},
		{"{…\"status\":\"Completed\",…}", "{\"version\":2,\"status\":\"Failed\",\"x\":1}", "*"},
	} {
		want := test.missing
		if want == "*" {
			want = test.shown
		}
		if got := alike(strings.Split(test.shown, "\n"), test.output); got != want {
			t.Errorf("%q and %q: missing %q, want %q", test.shown, test.output, got, want)
		}
	}
}
