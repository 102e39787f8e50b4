package live

import (
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestReasons says in a row why times were skipped.
func TestReasons(t *testing.T) {
	for want, r := range map[string]scheduler.Record{
		"the job was paused":                            {Reason: scheduler.ReasonPaused, Count: 1},
		"× 3 an earlier run was still active: two left": {Reason: scheduler.ReasonOverlap, Count: 3, Message: "two left"},
		"refused": {Message: "refused"},
	} {
		if got := answerOf(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRowsAreMadeOnce makes rows of more records than are kept: those that are kept are not made again, and all are as they are.
func TestRowsAreMadeOnce(t *testing.T) {
	made := &rows{}
	records := make([]*scheduler.Record, 3*rowsKept)
	for i := range records {
		records[i] = &scheduler.Record{
			Job: scheduler.Key{Collection: "c", Job: "<b>"}, Sequence: uint64(i + 1), Outcome: scheduler.OutcomeCompleted,
		}
		text, err := made.all(&batch{records: records[max(0, i-1) : i+1], Missed: i % 2, Before: 7}, "/there")
		if err != nil || strings.Count(text, "<li class=\"attempt\"") != min(i+1, 2) || strings.Contains(text, "<b></") {
			t.Fatalf("%d: %s, %v", i, text, err)
		}
		if strings.Contains(text, `href="/there"`) != (i%2 == 1) {
			t.Fatalf("%d: what was missed: %s", i, text)
		}
	}
	if len(made.made) != rowsKept {
		t.Errorf("%d rows are kept", len(made.made))
	}
	last := new(*records[len(records)-1]) // as another tail reads it
	last.Message = "it is not made again"
	if row, err := made.of(last); err != nil || strings.Contains(row, last.Message) {
		t.Errorf("it is made again: %s, %v", row, err)
	}
	first := records[0]
	first.Message = "it is made again"
	if row, err := made.of(first); err != nil || !strings.Contains(row, first.Message) || len(made.made) != rowsKept {
		t.Errorf("it is not: %s, %v", row, err)
	}
}
