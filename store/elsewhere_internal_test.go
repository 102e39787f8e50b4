package store

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
