package top

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
)

// TestRedraw replaces each line, and all below.
func TestRedraw(t *testing.T) {
	at := time.Date(2026, 3, 2, 12, 0, 30, 0, time.UTC)
	late := scheduler.Seconds(time.Second)
	a := &v1.Activity{
		At: at, Schedulers: 2, InFlight: 3, Waiting: 4,
		Recent: v1.ActivityCounts{
			Since: at.Add(-80 * time.Second), Completed: 180, Faulted: 20, FailedAttempts: 5, LatenessP50: late, LatenessP99: late,
		},
		Hour:    v1.ActivityCounts{Since: at.Add(-time.Hour), Completed: 3600, Skipped: 7},
		Targets: []v1.ActivityTarget{{Target: "a:1", State: "open", Attempts: 9, Failed: 8, Mean: late}},
	}
	var out bytes.Buffer
	term := &terminal.Terminal{Out: &out, UTC: true, Lookup: func(string) (string, bool) { return "", false }}
	for i, first := range []bool{true, false} {
		out.Reset()
		if err := redraw(term, snapshot{Activity: a}, first); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if !strings.HasPrefix(got, []string{"\x1b[H\x1b[2J12:00", "\x1b[H12:00"}[i]) || !strings.HasSuffix(got, "\x1b[K\n\x1b[J") {
			t.Errorf("%q", got)
		}
		plain := strings.Join(strings.Fields(strings.ReplaceAll(got, "\x1b[K", "")), " ")
		for _, want := range []string{
			"12:00:30.000 3 attempts running, 4 runs waiting for a slot, 2 schedulers", " 1m20s 200 2.5 20 5 0 0 1s 1s ", " 1h0m 3600 1.0 0 0 7 0 ",
			" a:1 open 0 0 9 8 1s",
		} {
			if !strings.Contains(plain, want) {
				t.Errorf("no %q in %s", want, plain)
			}
		}
	}
}
