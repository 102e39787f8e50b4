package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
)

func TestMain(m *testing.M) {
	if status, ok := runChild(os.Args[1:]); ok {
		os.Exit(status)
	}
	ats.Register() // one ticker for the servers of all tests
	flag.Parse()
	_ = flag.Set("test.parallel", "6") // the scenarios wait most of the time
	status := m.Run()
	built.close()
	os.Exit(status)
}

// TestScenarios runs every scenario, as typed, with little to do. It looks at
// what arrived, never at how long that took.
func TestScenarios(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skipped by -short: run go test ./integration/bench")
	}
	for _, test := range []struct {
		args    string
		parts   []string
		figures []string // of the first part; all must be there
		zero    []string
	}{
		{
			"-scenario herd -n 50 -ahead 4s -conn tcp -cpuprofile DIR/cpu -memprofile DIR/mem",
			[]string{"carillon", "bare"},
			[]string{"delivered_s", "settled_s", "drained_s", "late_p99_ms", "cpu_us_per_job", "ratio"},
			[]string{"lost", "early", "stray", "duplicated"},
		},
		{
			"-scenario deliver -n 50 -ahead 4s",
			[]string{"http", "servicebus", "storagequeue", "jetstream"},
			[]string{"delivered_s", "settled_s", "late_p99_ms", "rate_vs_http", "late_p50_vs_http"},
			[]string{"lost", "early", "stray", "duplicated", "surplus_records"},
		},
		{
			"-scenario steady -rate 20 -n 20 -interval 1s -warmup 1s -ahead 2s",
			[]string{"carillon"},
			[]string{"late_p50_ms", "cpu_cores"},
			[]string{"lost", "early", "stray", "duplicated"},
		},
		{
			"-scenario hold -n 50 -idle 10ms",
			[]string{"carillon"},
			[]string{"rss_idle_bytes_per_job", "rss_gc_bytes_per_job", "disk_bytes_per_job", "ready_s", "audit_s"},
			[]string{"audit_findings"},
		},
		{"-scenario hold -n 1 -idle 0s -restart=false", []string{"carillon"}, []string{"register_per_s"}, nil},
		{"-scenario register -n 50", []string{"published", "called"}, []string{"allocs_per_job"}, []string{"rejected"}},
		{
			"-scenario herd -n 50 -ahead 6s -shape processes",
			[]string{"carillon", "bare"},
			[]string{
				"delivered_s", "drained_after_s", "server_cpu_us_per_job", "worker_cpu_us_per_job", "sink_cpu_us_per_job",
				"server_allocs_per_job", "server_rss_peak_mb", "worker_rss_peak_mb", "delivered_vs_bare", "cpu_vs_bare",
			},
			[]string{"lost", "early", "stray", "duplicated", "unsettled"},
		},
		{
			"-scenario deliver -n 50 -ahead 6s -shape processes",
			[]string{"http", "servicebus", "storagequeue", "jetstream"},
			[]string{"delivered_s", "settled_s", "rate_vs_http"},
			[]string{"lost", "early", "stray", "duplicated", "surplus_records"},
		},
		{
			"-scenario steady -rate 20 -n 20 -interval 1s -warmup 1s -ahead 5s -shape processes -sync always",
			[]string{"carillon"},
			[]string{"late_p50_ms", "server_cpu_us_per_run", "server_allocs_per_run"},
			[]string{"lost", "early", "stray", "duplicated"},
		},
		{
			"-scenario hold -n 50 -idle 10ms -shape processes",
			[]string{"carillon"},
			[]string{"rss_idle_bytes_per_job", "server_rss_idle_mb", "worker_heap_bytes_per_job", "rss_gc_bytes_per_job", "ready_s", "killed_ready_s", "audit_s"},
			[]string{"audit_findings"},
		},
		{
			"-scenario register -n 50 -shape processes",
			[]string{"published", "called"},
			[]string{"server_cpu_us_per_job", "worker_allocs_per_job"},
			[]string{"rejected"},
		},
		{
			"-scenario kill -n 50 -ahead 6s",
			[]string{"carillon"},
			[]string{"killed_arrived", "late_max_ms", "drained_s"},
			[]string{"lost", "early", "stray", "unsettled"},
		},
		{
			"-scenario profile -n 50 -ahead 6s -profiles DIR/profiles",
			[]string{"carillon", "bare"},
			[]string{"worker_cpu_us_per_job"},
			[]string{"lost", "early", "stray", "duplicated", "unsettled"},
		},
		{
			"-scenario api -rate 20 -n 20 -interval 1s -warmup 1s -ahead 5s -calls 50",
			[]string{partQuiet, partCalls},
			[]string{"late_p50_ms", "late_p99_ms", "late_max_ms"},
			[]string{"lost", "early", "stray", "calls_failed"},
		},
		{
			"-scenario search -n 300",
			[]string{partIndex, "all", "label, 1 in 100", "next runs, 1 in 2"},
			nil,
			nil,
		},
		{
			"-scenario console -n 300 -rate 20 -interval 1s -warmup 1s -ahead 5s",
			[]string{partJobs, "overview", "jobs", "a job that runs", "load, counted"},
			nil,
			[]string{"lost", "early", "stray"},
		},
		{
			"-scenario history -n 300",
			[]string{partIndex, "without index: " + partIndex, "all", "without index: all", "target, 1 in 100"},
			nil,
			nil,
		},
		{
			"-scenario backup -n 300",
			[]string{"carillon"},
			[]string{"backup_s", "restore_s", "backup_mb"},
			[]string{"different"},
		},
		{"-scenario next -n 1 -runs 2", nil, []string{"ns_per_op", "allocs_per_op"}, nil},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := append(strings.Fields(strings.ReplaceAll(test.args, "DIR", dir)), "-json", "-dir", dir)
			if o, err := readOptions(args); err != nil {
				t.Fatal(err)
			} else if o.apart() {
				p := builtOnce(t)
				args = append(args, "-carillon", p.carillon, "-nats-server", p.server)
			}
			got := runJSON(t, args)
			if len(test.parts) > 0 {
				for _, name := range test.parts {
					if got[name] == nil {
						t.Errorf("no figures of %s", name)
					}
				}
			}
			for part, fs := range got {
				for _, name := range test.zero {
					if fs[name] != 0 {
						t.Errorf("%s: %s is %g", part, name, fs[name])
					}
				}
				for name := range fs {
					if !slices.ContainsFunc(glossary, func(term term) bool { return term.name == name }) {
						t.Errorf("%s is not explained", name)
					}
				}
				for _, name := range test.figures {
					if _, ok := fs[name]; !ok && part != "bare" {
						t.Errorf("%s: %s is missing", part, name)
					}
				}
			}
			if wrong := unprofiled(test.args, dir); len(wrong) > 0 {
				t.Errorf("not profiles: %v", wrong)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "carillon-bench-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// unprofiled returns those files of the scenario profile that are missing, or are no profiles.
func unprofiled(args, dir string) (wrong []string) {
	if !strings.Contains(args, "-profiles") {
		return nil
	}
	for _, of := range []string{"carillon-server", "carillon-worker", "bare-server", "bare-worker"} {
		for _, kind := range []string{".cpu", ".heap", ".allocs", ".allocs.base"} {
			name := of + kind + ".pb.gz"
			data, err := os.ReadFile(filepath.Join(dir, "profiles", name))
			if err != nil || !bytes.HasPrefix(data, []byte("\x1f\x8b")) { // gzip
				wrong = append(wrong, name)
			}
		}
	}
	return wrong
}

// TestRecorder checks that the sink's process tells each call once, and counts keys.
func TestRecorder(t *testing.T) {
	t.Parallel()
	r, err := newRecorder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	s := &sink{url: r.url, remote: &remoteSink{ctx: t.Context(), url: r.url}, arrivals: map[string]arrival{}}
	b := &bare{client: http.DefaultClient, url: r.url}
	for i, keys := range [][]string{{"a b", "c"}, {"a b"}, {}, {"d"}} {
		for _, key := range keys {
			if err := b.call(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		for _, key := range []string{"a b", "c", "a b", "d"}[:[]int{2, 3, 3, 4}[i]] {
			want[key]++
		}
		got := map[string]int{}
		s.each(func(key string, a arrival) { got[key] = a.calls })
		if !maps.Equal(got, want) {
			t.Errorf("after %d: got %v, want %v", i, got, want)
		}
	}
	s.remote.asked = time.Time{}
	if n := s.distinct(); n != 3 {
		t.Errorf("%d keys", n)
	}
}

// TestSample checks which jobs are asked for.
func TestSample(t *testing.T) {
	for _, test := range []struct {
		n, most int
		want    []int
	}{
		{1, 500, []int{0}}, {3, 500, []int{0, 1, 2}}, {100, 4, []int{0, 33, 66, 99}}, {5, 1, []int{0}},
	} {
		if got := sampleOf(test.n, test.most); !slices.Equal(got, test.want) {
			t.Errorf("%d of %d: got %v", test.most, test.n, got)
		}
	}
}

// built are the programs of the tests' processes. They are built without the race detector, however the tests are: it would
// only make them slow.
var built = &workshop{}

func builtOnce(t *testing.T) programs {
	t.Helper()
	p, err := built.programs(context.Background(), &options{}, newProgress(io.Discard, options{}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runJSON runs the command and returns its figures by part.
func runJSON(t *testing.T, args []string) map[string]map[string]float64 {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), args, &stdout, &stderr); status != exitOK {
		t.Fatalf("status %d\n%s%s", status, &stderr, &stdout)
	}
	var out struct {
		Figures map[string]map[string]float64 `json:"figures"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &stdout)
	}
	if len(out.Figures) == 0 {
		t.Fatalf("no figures\n%s", &stdout)
	}
	return out.Figures
}

// TestUsage checks what wrong command lines, and -h, are answered with.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                              "must be one of herd, deliver, steady, hold, register, kill, api, search, console, history, backup, profile, next",
		"-scenario heard":                               "must be one of",
		"-scenario herd -n -1":                          "-n -1: must be positive",
		"-scenario herd -conn udp x":                    `unexpected argument "x"`,
		"-scenario herd -conn udp":                      `-conn "udp"`,
		"-scenario steady -interval 1ms":                "whole seconds",
		"-scenario herd -order x":                       `-order "x"`,
		"-scenario herd -runs 0":                        "-runs 0",
		"-scenario herd -shape two":                     `-shape "two": must be one or processes`,
		"-scenario next -shape processes":               "-shape processes: next",
		"-scenario herd -profiles d":                    "-profiles: it is for -shape processes",
		"-scenario herd -shape processes -cpuprofile f": "-profiles DIR writes both",
		"-scenario herd -carillon f":                    "-carillon, -nats-server: they are for",
		"-scenario kill -kill-at 1":                     "-kill-at 1: must be at least 0",
		"-scenario api -calls 0":                        "-calls 0: must be positive",
		"-scenario herd -sync never":                    `-sync "never"`,
	} {
		var stderr bytes.Buffer
		if status := run(t.Context(), strings.Fields(args), &stderr, &stderr); status != exitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: status %d: %s", args, status, &stderr)
		}
	}
	var stdout bytes.Buffer
	if status := run(t.Context(), []string{"-h"}, &stdout, &stdout); status != exitOK {
		t.Errorf("-h: status %d", status)
	}
	for _, word := range []string{"herd", "deliver", "steady", "hold", "register", "kill", "api", "search", "console", "history", "profile", "next", "-shape", "-conn", "late_p99_ms", "ratio"} {
		if !strings.Contains(stdout.String(), word) {
			t.Errorf("-h does not tell of %s", word)
		}
	}
}

// TestAccount checks that the sink's account finds what is wrong.
func TestAccount(t *testing.T) {
	due := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	c := calendar{collection: "default", prefix: "job-", jobs: 4, first: due, step: 3 * time.Millisecond, grain: time.Millisecond, interval: 10 * time.Second}
	s := &sink{arrivals: map[string]arrival{}}
	arrive := func(key string, at time.Time, calls int) {
		s.arrivals[key] = arrival{at, calls}
	}
	// Of 4 jobs with 2 instants each, one is lost and one is called three times.
	for i := range c.jobs {
		for n := range 2 {
			at := c.start(i).Add(time.Duration(n) * c.interval)
			if i == 2 && n == 1 {
				continue
			}
			arrive(c.occurrence(i, at), at.Add(time.Duration(2*i+n)*time.Millisecond), 1)
		}
	}
	arrive(c.occurrence(0, due), due, 3)
	arrive(c.occurrence(3, c.start(3).Add(2*c.interval)), c.start(3).Add(2*c.interval-1), 1) // after the window, and early
	arrive("default/job-0@"+due.Add(time.Second).Format(time.RFC3339Nano), due.Add(time.Second), 1)
	arrive("default/job-4@"+due.Format(time.RFC3339Nano), due, 1)
	arrive("", due, 1)

	got := s.account(c, due, due.Add(2*c.interval))
	if got.lost != 1 || got.early != 1 || got.stray != 3 || got.duplicated != 2 {
		t.Errorf("got %+v", got)
	}
	if n := len(got.late); n != 7 || got.late.percentile(100) != 7*time.Millisecond || got.late.percentile(50) != 3*time.Millisecond {
		t.Errorf("got %v", got.late)
	}
	if want := c.start(3).Add(c.interval + 7*time.Millisecond); !got.last.Equal(want) {
		t.Errorf("last %v, want %v", got.last, want)
	}
}

// TestReport checks the medians, and what makes the exit status 1.
func TestReport(t *testing.T) {
	r := report{runs: [][]part{
		{{"carillon", figures{{"delivered_s", 3}, {"lost", 0}}}},
		{{"carillon", figures{{"delivered_s", 1.23456}, {"lost", 2}}}},
		{{"carillon", figures{{"delivered_s", 2}, {"lost", 0}}}},
	}}
	var out strings.Builder
	if err := r.write(&out, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(got, "median of 3 runs carillon delivered_s 2 lost 0") {
		t.Errorf("got %s", got)
	}
	if got := r.faults(); len(got) != 1 || got[0] != "run 2, carillon: 2 lost" {
		t.Errorf("got %q", got)
	}
	for value, want := range map[float64]string{0: "0", 1.23456: "1.235", 123456.7: "123457", 0.000123: "0.000123", 12: "12", 250: "250", 0.9999: "0.9999"} {
		if got := (figure{"", value}).text(); got != want {
			t.Errorf("%g: got %s, want %s", value, got, want)
		}
	}
}
