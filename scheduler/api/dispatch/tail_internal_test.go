package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/control"
)

// recorded is a [Form] that lists its calls.
type recorded []string

func (r *recorded) addf(format string, of ...any) { *r = append(*r, fmt.Sprintf(format, of...)) }

func (r *recorded) Begin(b control.Beginning) { r.addf("begin %d", b.After) }
func (r *recorded) Record(sequence uint64, document []byte) {
	r.addf("record %d %s", sequence, document)
}
func (r *recorded) Life(passed uint64)           { r.addf("life %d", passed) }
func (r *recorded) End(passed uint64, why error) { r.addf("end %d %v", passed, why) }

// TestTail checks that a keepalive reports a passed record once, unless a record was sent since, and that nothing follows
// the end.
func TestTail(t *testing.T) {
	var got recorded
	tail := &tail{form: &got}
	tail.begin(control.Beginning{After: 3})
	tail.pass(4)
	tail.live()
	tail.live()
	tail.pass(5)
	tail.send(6, []byte("{}"))
	tail.live()
	tail.pass(7)
	if err := tail.end(errors.New("gone")); err != nil {
		t.Errorf("the end of a begun tail: %v", err)
	}
	tail.send(8, nil)
	tail.live()
	if want := []string{"begin 3", "life 4", "life 0", "record 6 {}", "life 0", "end 7 gone"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

// TestTailWithoutBegin checks that a tail that has not begun returns its error and calls nothing.
func TestTailWithoutBegin(t *testing.T) {
	var got recorded
	why := errors.New("invalid")
	if err := (&tail{form: &got}).end(why); !errors.Is(err, why) || got != nil {
		t.Errorf("%v, calls %q", err, got)
	}
}
