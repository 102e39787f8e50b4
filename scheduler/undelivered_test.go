package scheduler_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler"
)

// TestRescue covers running batons that are never redelivered.
func TestRescue(t *testing.T) {
	for _, test := range []struct {
		name             string
		waiting, running uint64
		want             scheduler.Rescue
	}{
		{"it is the last of its slot", 0, 7, scheduler.FireAgain},
		{"the next one waits", 8, 7, scheduler.Discard},
		{"the next one was fired", 0, 9, scheduler.Discard},
		{"the next one was fired, and the one after it waits", 10, 9, scheduler.Discard},
		{"it is gone", 0, 0, scheduler.Discard},
		{"it is gone, and the next one waits", 8, 0, scheduler.Discard},
	} {
		s := scheduler.UndeliveredBaton{Sequence: 7}
		if got := s.Rescue(test.waiting, test.running); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestUndeliveredAgain checks that an undelivered baton is fired again as suspect, and otherwise unchanged. A baton that
// cannot be decoded stays as it is.
func TestUndeliveredAgain(t *testing.T) {
	b := scheduler.Baton{UID: "u", Revision: 3, Nominal: time.Unix(100, 0).UTC(), Due: time.Unix(101, 0).UTC(), Attempt: 2}
	again := (&scheduler.UndeliveredBaton{Body: b.Encode()}).Refired()
	b.Suspect = true
	if got, err := scheduler.DecodeBaton(again); err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("%+v, %v, want %+v", got, err, b)
	}
	damaged := []byte(`{"uid`)
	if again := (&scheduler.UndeliveredBaton{Body: damaged}).Refired(); !bytes.Equal(again, damaged) {
		t.Errorf("%s", again)
	}
}
