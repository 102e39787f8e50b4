package scheduler_test

import (
	"errors"
	"testing"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/spec"
)

// TestProblemsKeepTheirCause checks that programs find the problems in a wrapped document error.
func TestProblemsKeepTheirCause(t *testing.T) {
	read := func(text string) error {
		_, err := decoder("08:00:00").Document(parseDocument(t, text)).Definition()
		return err
	}
	for _, text := range []string{
		`{"recurrence": {"cron": "0 0 32 * *"}, "action": {"type": "None"}}`,
		`{"properties": {"recurrence": {"rrule": "RRULE:FREQ=DAILY;BYDAY=XX"}, "action": {"type": "None"}}}`,
	} {
		err := read(text)
		syntax, ok := errors.AsType[*spec.SyntaxError](err)
		if !ok || syntax.Column == 0 || !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%s: %v holds %+v, want a syntax error with its column", text, err, syntax)
		}
	}
	if err := read(`{"recurrence": {"cron": "0 9 * * *"}}`); !errors.Is(err, document.ErrRequired) {
		t.Errorf("%v is not that of a member that is missing", err)
	}
}
