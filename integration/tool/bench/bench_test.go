package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"log"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/capacity"
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if status, ok := runChild(context.Background(), os.Args[1:]); ok {
		return status
	}
	quietTime = time.Millisecond
	flag.Parse()                       //nolint:revive // of TestMain
	_ = flag.Set("test.parallel", "8") // the scenarios wait most of the time
	dir, err := os.MkdirTemp("", "bench-test-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		log.Print(err)
		return exitFailure
	}
	defer func() { _ = os.RemoveAll(dir) }()
	status := m.Run()
	if left, _ := filepath.Glob(filepath.Join(dir, "carillon-bench-*")); len(left) > 0 {
		log.Printf("left behind: %q", left)
		return exitFailure
	}
	return status
}

// built builds the measured programs once, without the race detector.
var built = sync.OnceValues(func() (programs, error) {
	b := &bench{log: log.Default()}
	err := b.build(context.Background(), os.TempDir())
	return b.programs, err
})

// TestScenarios measures every scenario with few jobs. It checks what arrived, never how long that took.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"herd -n 50 -ahead 15s": `delivered_s settled_s drained_s late_p99_ms cpu_us_per_job target_cpu_us_per_job allocs_per_job
			server_rss_peak_mb worker_rss_peak_mb rest_cpu_us_per_job`,
		"steady -rate 20 -seconds 1 -ahead 15s -sync always":   "occurrences late_p50_ms cpu_us_per_run disk_bytes_per_record",
		"events -n 2 -rate 50 -seconds 1":                      "events occurrences late_p50_ms repeated cpu_us_per_event",
		"events -n 2 -rate 50 -seconds 1 -listeners 5 -each 5": "occurrences lost unexpected",
		"events -n 2 -rate 50 -seconds 1 -listeners 5 -apart":  "occurrences",
		"hold -n 50":            "rss_gc_bytes_per_job worker_heap_bytes_per_job disk_bytes_per_baton",
		"restart -n 50":         "stop_s server_s api_s ready_s killed_ready_s rss_restart_mb",
		"register -n 50":        "published_armed_per_s requested_register_per_s requested_cpu_us_per_job disk_bytes_per_result",
		"kill -n 50 -ahead 15s": "killed_s killed_arrived late_max_ms repeated",
		"hold -n 5 -runs 2 -against " + files.carillon: "rss_gc_mb",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			r := runJSON(t, files, "-scenario "+args)
			sides := []string{sideCarillon}
			if r.Scenario == "herd" {
				sides = append(sides, sideBare, "carillon/bare")
			}
			if r.Against != "" {
				sides = append(sides, sideAgainst, "carillon/against")
			}
			if got := slices.Sorted(maps.Keys(r.Figures)); !slices.Equal(got, slices.Sorted(slices.Values(sides))) {
				t.Errorf("got figures of %q, want %q", got, sides)
			}
			for name := range strings.FieldsSeq(want) {
				if _, ok := r.Figures[sideCarillon][name]; !ok {
					t.Errorf("%s is missing", name)
				}
			}
			for name := range r.Figures[sideCarillon] {
				if !explained(name) {
					t.Errorf("%s is not explained", name)
				}
			}
		})
	}
}

// runJSON executes a command line and returns its report.
func runJSON(t *testing.T, files programs, args string) *report {
	t.Helper()
	o, err := readOptions(append(strings.Fields(args), "-json"))
	if err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	b := &bench{options: o, log: log.New(&progress, "", log.Ltime), programs: files}
	if err := b.run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s%s", err, &progress, &out)
	}
	r := &report{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return r
}

// explained reports whether -h explains a figure, with its prefixes or without.
func explained(name string) bool {
	words := strings.Fields(explanations)
	for prefix := range strings.FieldsSeq("killed_ published_ requested_ server_ worker_ target_ load_ -") {
		if slices.Contains(words, strings.NewReplacer("_per_s", "_s", "_per_run", "_per_job", "_per_event", "_per_job").Replace(name)) {
			return true
		}
		name = strings.TrimPrefix(name, prefix)
	}
	return false
}

// TestDistinct checks that no two jobs share a URL, a body or a definition.
func TestDistinct(t *testing.T) {
	t.Parallel()
	c := calendar{prefix: "job-", jobs: 1200, first: time.Now().UTC()}
	seen := map[string]bool{}
	for i := range c.jobs {
		var job struct {
			Action struct {
				Request struct {
					URI  string `json:"uri"`
					Body string `json:"body"`
				} `json:"request"`
			} `json:"action"`
		}
		document := c.document(i, "http://127.0.0.1:1/")
		if err := json.Unmarshal(document, &job); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{string(document), job.Action.Request.URI, job.Action.Request.Body} {
			if part == "" || seen[part] {
				t.Fatalf("job %d: %q is not distinct", i, part)
			}
			seen[part] = true
		}
	}
}

// TestTarget checks that the target recognizes calls with the URL or the body of another job, and repeated ones.
func TestTarget(t *testing.T) {
	t.Parallel()
	s := &stage{bench: &bench{}, dir: t.TempDir()}
	to, err := s.startTarget(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	due := time.Now().UTC().Add(-time.Second).Truncate(time.Millisecond)
	c := calendar{prefix: "job-", jobs: 3, first: due}
	for _, call := range []struct{ url, key, body string }{
		{"job-0", c.key(0, due), jobBody("job-0")},
		{"job-0", c.key(0, due), jobBody("job-0")},
		{"job-1", c.key(2, due), jobBody("job-2")},
		{"job-1", c.key(1, due), jobBody("job-2")},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to.url+call.url, strings.NewReader(call.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Idempotency-Key", call.key)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if n, err := to.read(); n != 3 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	if got := to.account(c.within(due, due.Add(1)), c.due); got.lost != 2 || got.unexpected != 2 || got.repeated != 1 || len(got.late) != 1 {
		t.Errorf("got %+v", got)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// TestAccount checks the account of calls, and percentiles.
func TestAccount(t *testing.T) {
	t.Parallel()
	due := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	c := calendar{prefix: "job-", jobs: 4, first: due, step: 3 * time.Millisecond, interval: 10 * time.Second}
	to := &target{arrivals: map[string]arrival{}}
	for i := range c.jobs { // two instants each, of which one is lost and one is called three times
		for n := range 2 {
			at := c.start(i).Add(time.Duration(n) * c.interval)
			to.arrivals[c.key(i, at)] = arrival{at.Add(time.Duration(2*i+n) * time.Millisecond), 1}
		}
	}
	delete(to.arrivals, c.key(2, c.start(2).Add(c.interval)))
	to.arrivals[c.key(0, due)] = arrival{due, 3}
	late := c.start(3).Add(2 * c.interval)
	to.arrivals[c.key(3, late)] = arrival{late.Add(-1), 1} // after the window, and early
	for _, key := range []string{c.key(0, due.Add(time.Second)), c.key(4, due), ""} {
		to.arrivals[key] = arrival{due, 1}
	}
	got := to.account(c.within(due, due.Add(2*c.interval)), c.due)
	if got.lost != 1 || got.early != 1 || got.unexpected != 3 || got.repeated != 2 || len(got.late) != 7 {
		t.Errorf("got %+v", got)
	}
	if fs := got.figures(); fs["late_max_ms"] != 7 || fs["late_p50_ms"] != 3 {
		t.Errorf("got %v", fs)
	}
	if want := c.start(3).Add(c.interval + 7*time.Millisecond); !got.last.Equal(want) {
		t.Errorf("last %v, want %v", got.last, want)
	}
}

// TestReport checks medians, paired ratios and faults.
func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport(options{}, []map[string]figures{
		{sideCarillon: {"delivered_s": 3, "lost": 0}, sideBare: {"delivered_s": 6}},
		{sideCarillon: {"delivered_s": 1.00004, "lost": 2}, sideBare: {"delivered_s": 1}},
		{sideCarillon: {"delivered_s": 2, "lost": 0}, sideBare: {"delivered_s": 1}},
	})
	want := map[string]figures{
		sideCarillon:    {"delivered_s": 2, "lost": 0},
		sideBare:        {"delivered_s": 1},
		"carillon/bare": {"delivered_s": 1},
	}
	if !maps.EqualFunc(r.Figures, want, maps.Equal[figures, figures]) {
		t.Errorf("got %v", r.Figures)
	}
	if len(r.Faults) != 1 || r.Faults[0] != "run 2, carillon: 2 lost" {
		t.Errorf("got %q", r.Faults)
	}
	var out strings.Builder
	if err := r.write(&out, false); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(out.String()), " ")
	if !strings.Contains(got, "bare carillon carillon/bare delivered_s 1 2 1 lost - 0 -") {
		t.Errorf("got %s", got)
	}
}

// TestAgainstRevision checks that -against builds a git revision.
func TestAgainstRevision(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a program: run without -short")
	}
	if err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("not in a git repository")
	}
	file, err := buildRevision(t.Context(), t.TempDir(), "HEAD", "./examples/publish") // which builds in a moment
	if err != nil {
		t.Fatal(err)
	}
	if version, err := execute(t.Context(), "", "go", "version", file); err != nil || !strings.HasPrefix(version, file+": go") {
		t.Errorf("got %q, %v", version, err)
	}
}

// TestUsage checks answers to wrong command lines, and -h.
func TestUsage(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"":                                "must be one of herd, steady, events, hold, restart, register, kill",
		"-scenario heard":                 "must be one of",
		"-scenario herd -n -1":            "must be positive",
		"-scenario steady -seconds 0":     "must be positive",
		"-scenario herd -shape processes": "flag provided but not defined",
		"-scenario herd x":                `unexpected argument "x"`,
	} {
		var stderr bytes.Buffer
		status := run(t.Context(), strings.Fields(args), &stderr, &stderr)
		if status != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: status %d: %s", args, status, &stderr)
		}
	}
	var stdout bytes.Buffer
	if status := run(t.Context(), []string{"-h"}, &stdout, &stdout); status != exitOK {
		t.Errorf("-h: status %d", status)
	}
	for _, word := range []string{"register", "-against", "late_p99_ms"} {
		if !strings.Contains(stdout.String(), word) {
			t.Errorf("-h does not explain %s", word)
		}
	}
}

// TestCapacity checks that BENCHMARKS has the tables of costs and checks, and that `carillon size` has the same figures.
func TestCapacity(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", ".github", "BENCHMARKS.md"))
	if err != nil {
		t.Fatal(err)
	}
	reports := filepath.Join("testdata", "capacity")
	var tables bytes.Buffer
	if err := writeCapacity(&tables, reports, false); err != nil {
		t.Fatal(err)
	}
	spaces := regexp.MustCompile(` +`)
	text := spaces.ReplaceAllString(string(page), " ")
	rows := strings.FieldsFunc(spaces.ReplaceAllString(tables.String(), " "), func(r rune) bool { return r == '\n' })
	if len(rows) < 14 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(text, row) {
			t.Errorf("the page lacks the row\n%s", row)
		}
	}
	c, err := readCapacity(reports)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := capacity.Measured(); err != nil || !reflect.DeepEqual(got, c.figures()) {
		t.Errorf("carillon size has other figures (%v): go run ./integration/tool/bench -json -capacity %s > scheduler/capacity/figures.json",
			err, filepath.ToSlash(filepath.Join("integration", "tool", "bench", reports)))
	}
}
