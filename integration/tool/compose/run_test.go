package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestDelivery reads the lines of the consumer.
func TestDelivery(t *testing.T) {
	for line, want := range map[string][2]string{
		"queue orders  default/q@2026-01-01T00:00:00Z":    {"queue ", "default/q@2026-01-01T00:00:00Z"},
		"topic sales/large  default/t@2026-01-01":         {"topic ", "default/t@2026-01-01"},
		"storage queue letters  4f1e":                     {"storage queue ", "4f1e"},
		"http POST /hook  default/http@2026-01-01T00:00Z": {"http ", "default/http@2026-01-01T00:00Z"},
		"subject lights.hall  x":                          {"subject ", "x"},
		"    {\"from\": \"http\"}":                        {},
		"http POST /hook  ":                               {},
		"listening on http://[::]:9000":                   {},
	} {
		kind, id, ok := delivery(line)
		if kind != want[0] && ok || id != want[1] || ok != (want[1] != "") {
			t.Errorf("%q: %q %q %v, want %q", line, kind, id, ok, want)
		}
	}
}

// TestGaps finds occurrences that have no completed run.
func TestGaps(t *testing.T) {
	at := func(seconds int) time.Time { return time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC) }
	run := func(seconds int, status string) record { return record{Due: at(seconds), Status: status} }
	for name, test := range map[string]struct {
		records []record
		want    []string
	}{
		"all ran":        {[]record{run(20, "Completed"), run(10, "Completed"), run(0, "Completed")}, nil},
		"after a retry":  {[]record{run(0, "Failed"), run(0, "Completed")}, nil},
		"one is missing": {[]record{run(0, "Completed"), run(30, "Completed")}, []string{"00:00:10", "00:00:20"}},
		"one has failed": {[]record{run(0, "Completed"), run(10, "Failed")}, []string{"00:00:10"}},
		"none ran":       {nil, []string{"any time"}},
	} {
		if got := gaps(test.records); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestLongestGap measures between deliveries, and from the fault to the first.
func TestLongestGap(t *testing.T) {
	begin := time.Now()
	s := newSeen()
	for _, after := range []time.Duration{-time.Minute, 2 * time.Second, 7 * time.Second, 8 * time.Second} {
		s.all = append(s.all, begin.Add(after))
	}
	if got := s.longestGap(begin); got != 5*time.Second {
		t.Errorf("got %s", got)
	}
}

// TestJobs knows the jobs of the stack, and the images that its files name.
func TestJobs(t *testing.T) {
	t.Chdir("../../..")
	files, err := filepath.Glob("examples/compose/jobs/*.yaml")
	if err != nil || len(files) != len(jobs) {
		t.Errorf("%d jobs, and %d files: %v", len(jobs), len(files), err)
	}
	for job := range jobs {
		if _, err := os.Stat("examples/compose/jobs/" + job + ".yaml"); err != nil {
			t.Error(err)
		}
	}
	for _, b := range bases {
		if _, err := named(b.file, b.pattern); err != nil {
			t.Error(err)
		}
	}
}

// TestDeliver tells the build from what the built program prints.
func TestDeliver(t *testing.T) {
	for name, test := range map[string]struct{ out, want string }{
		"delivered": {
			"cd /src\n$WORK/b001/exe/carillon dev examples/jobs\nlistening\n" +
				"12:40:06.653  default/failing  failed  +3.1 ms\n12:40:06.652  default/hello  completed  +2.6 ms\n",
			"12:40:06.652  default/hello  completed  +2.6 ms",
		},
		"not built":       {"12:40:06.652  default/hello  completed  +2.6 ms\n", ""},
		"never delivered": {"$WORK/b001/exe/carillon dev examples/jobs\nlistening\n", ""},
	} {
		built, delivery, err := deliver(strings.NewReader(test.out))
		if delivery != test.want || (err == nil) != (test.want != "") || err == nil && built.IsZero() {
			t.Errorf("%s: %s %q %v", name, built, delivery, err)
		}
	}
}
