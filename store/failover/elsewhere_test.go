package failover

import (
	"testing"
	"time"
)

func TestLeavesServer(t *testing.T) {
	tests := []struct {
		name string
		s    silence
		want bool
	}{
		{"an answer is due", silence{unanswered: time.Second, here: time.Hour}, false},
		{"leaders are chosen", silence{unanswered: 9 * time.Second, others: 500 * time.Millisecond, here: time.Hour}, false},
		{"nobody is heard", silence{unanswered: leaveAlone, others: heardFor, here: time.Hour}, true},
		{"nobody is there", silence{unanswered: leaveAlone, here: time.Hour}, false},
		{"none for long", silence{unanswered: leaveAfter, others: time.Second, here: time.Hour}, true},
		{"this one is as silent as the one before", silence{unanswered: leaveAlone, others: time.Minute, here: leaveAlone}, false},
		{"and stays so", silence{unanswered: stayFor, others: time.Minute, here: stayFor}, true},
	}
	for _, test := range tests {
		if got := test.s.leaves(); got != test.want {
			t.Errorf("%s: leaves %t, want %t", test.name, got, test.want)
		}
	}
}

// TestCutOff: when other processes may consider a holder vanished.
func TestCutOff(t *testing.T) {
	start := time.Now()
	e := &elsewhere{}
	want := func(what string, after time.Duration, want bool) {
		t.Helper()
		if got := e.cutOff(start.Add(after)); got != want {
			t.Errorf("%s: cut off %t, want %t", what, got, want)
		}
	}
	e.hears(start, true)
	e.Sent(start)
	want("both are silent", 2*time.Second, true)
	e.Answered(start.Add(time.Second))
	e.Sent(start.Add(time.Second))
	want("after an answer, both are", 3*time.Second, true)
	e.Reconnected()
	want("what was sent was sent on another connection", 3*time.Second, false)

	e.Answered(start.Add(time.Minute))
	e.Sent(start.Add(time.Minute))
	want("the others were gone before", time.Minute+5*time.Second, false)

	e.hears(start.Add(2*time.Minute), true)
	e.Sent(start.Add(2 * time.Minute))
	want("in the time of repetitions", 2*time.Minute+repeated-time.Second, true)
	want("nothing was sent for long", 2*time.Minute+repeated, false)
	e.Sent(start.Add(3 * time.Minute))
	want("something is sent", 3*time.Minute, false)
}
