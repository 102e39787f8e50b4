package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"
)

func TestMain(m *testing.M) {
	ats.Register() // one ticker for the servers of all tests
	os.Exit(m.Run())
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
		{"-scenario register -n 50", []string{"carillon"}, []string{"accepted_per_s"}, []string{"rejected"}},
		{"-scenario next -n 1 -runs 2", nil, []string{"ns_per_op", "allocs_per_op"}, nil},
	} {
		t.Run(test.args, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := strings.Fields(strings.ReplaceAll(test.args, "DIR", dir))
			got := runJSON(t, append(args, "-json", "-dir", dir))
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
			if left, _ := filepath.Glob(filepath.Join(dir, "carillon-bench-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
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
		"":                               "must be one of herd, deliver, steady, hold, register, next",
		"-scenario heard":                "must be one of",
		"-scenario herd -n -1":           "-n -1: must be positive",
		"-scenario herd -conn udp x":     `unexpected argument "x"`,
		"-scenario herd -conn udp":       `-conn "udp"`,
		"-scenario steady -interval 1ms": "whole seconds",
		"-scenario herd -order x":        `-order "x"`,
		"-scenario herd -runs 0":         "-runs 0",
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
	for _, word := range []string{"herd", "deliver", "steady", "hold", "register", "next", "-conn", "late_p99_ms", "ratio"} {
		if !strings.Contains(stdout.String(), word) {
			t.Errorf("-h does not tell of %s", word)
		}
	}
}

// TestAccount checks that the sink's account finds what is wrong.
func TestAccount(t *testing.T) {
	due := time.Now().Add(-time.Minute).UTC().Truncate(time.Millisecond)
	c := calendar{collection: "default", prefix: "job-", jobs: 4, first: due, step: 3 * time.Millisecond, grain: time.Millisecond, interval: 10 * time.Second}
	s, err := newSink(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
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
	if n := len(got.late); n != 7 || got.percentile(100) != 7*time.Millisecond || got.percentile(50) != 3*time.Millisecond {
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
