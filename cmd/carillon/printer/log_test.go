package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestOutageIsFewLines has 3,000 jobs fail at one target for 45 seconds, and a few at another: each target has a line in ten
// seconds, and the lines count all failures.
func TestOutageIsFewLines(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		q := NewLog(slog.New(slog.NewJSONHandler(&out, nil)), false)
		taken := map[string]int{}
		fail := func(i int, target string) {
			q.Take(&scheduler.Record{
				Job: scheduler.Key{Collection: "c", Job: fmt.Sprintf("j%d", i)}, Occurrence: "o", Outcome: scheduler.OutcomeFailed,
				Target: target, Status: 503, Started: time.Now(), Message: fmt.Sprintf("503 Busy, request %d", i),
			})
			taken[target]++
		}
		for range 15 {
			for i := range 3000 {
				fail(i, "down.example")
			}
			fail(0, "ill.example")
			time.Sleep(3 * time.Second)
		}
		time.Sleep(time.Minute)
		q.End()
		lines, counted := map[string]int{}, map[string]int{}
		for text := range strings.Lines(out.String()) {
			var line struct {
				Msg    string `json:"msg"`
				Target string `json:"target"`
				Others int    `json:"others"`
				Count  int    `json:"count"`
			}
			must.Do(t, json.Unmarshal([]byte(text), &line))
			lines[line.Target]++
			counted[line.Target] += line.Others + line.Count
			if line.Msg == "attempt" {
				counted[line.Target]++
			}
		}
		for target, n := range taken {
			if lines[target] == 0 || lines[target] > 6 || counted[target] != n {
				t.Errorf("%s: %d lines, which count %d failures of %d", target, lines[target], counted[target], n)
			}
		}
	})
}

// TestLogLevels logs a record of each outcome, with and without somebody who watches.
func TestLogLevels(t *testing.T) {
	at := time.Date(2026, 3, 8, 9, 0, 0, 0, time.UTC)
	record := func(o scheduler.Outcome) *scheduler.Record {
		r := &scheduler.Record{Job: scheduler.Key{Collection: "c", Job: "j"}, Occurrence: "c/j@1", Outcome: o, Due: at, Message: "503 Busy"}
		if o == scheduler.OutcomeCompleted || o == scheduler.OutcomeFailed {
			r.Try, r.Started, r.Duration, r.Status = 1, at.Add(time.Millisecond), 2*time.Millisecond, 503
		}
		if o == scheduler.OutcomeSkipped {
			r.Count, r.Reason = 3, scheduler.ReasonCatchUp
		}
		return r
	}
	failures := []string{
		`level=WARN msg=attempt outcome=failed job=c/j occurrence=c/j@1 attempt=1 status=503 took=2ms late=1ms err="503 Busy"`,
		`level=WARN msg=occurrence outcome=faulted job=c/j occurrence=c/j@1 err="503 Busy"`,
	}
	for watched, want := range map[bool][]string{
		false: failures,
		true: {
			`level=INFO msg=attempt outcome=completed job=c/j occurrence=c/j@1 attempt=1 status=503 took=2ms late=1ms`, failures[0], failures[1],
			`level=INFO msg=occurrence outcome=postponed job=c/j occurrence=c/j@1 err="503 Busy"`,
			`level=INFO msg=occurrence outcome=skipped job=c/j occurrence=c/j@1 count=3 reason=catchUp err="503 Busy"`,
		},
	} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		q := NewLog(log, watched)
		for _, o := range scheduler.Outcomes {
			q.Take(record(o))
		}
		q.End()
		if got := strings.TrimSpace(out.String()); got != strings.Join(want, "\n") {
			t.Errorf("watched %v: got\n%s\nwant\n%s", watched, got, strings.Join(want, "\n"))
		}
	}
}
