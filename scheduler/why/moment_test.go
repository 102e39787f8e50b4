package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/why"
)

// TestParseMoment reads times in all forms, on a clock that jumps and goes back.
func TestParseMoment(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := at("12:00:00.9")
	for _, test := range []struct {
		text, want string
		span       time.Duration
		jumped     bool
		note       string
	}{
		{"now", "12:00:00", time.Second, false, ""},
		{"-2h", "10:00:00", time.Second, false, ""},
		{"+30m", "12:30:00", time.Second, false, ""},
		{"-PT90M", "10:30:00", time.Second, false, ""},
		{"-1d12h", "2026-03-01T00:00:00Z", time.Second, false, ""},
		{"2026-03-02T09:00Z", "09:00:00", time.Minute, false, ""},
		{"2026-03-02T09:00:00Z", "09:00:00", time.Second, false, ""},
		{"2026-03-02T09:00:05.25Z", "09:00:05", time.Second, false, ""},
		{"2026-03-02 09:00:05Z", "09:00:05", time.Second, false, ""},
		{"2026-03-02T09:00+01:00", "08:00:00", time.Minute, false, ""},
		{"2026-03-02T09:00:00+01:00", "08:00:00", time.Second, false, ""},
		{"2026-03-02T09:00", "08:00:00", time.Minute, false, ""},
		{"2026-03-02 09:00:30", "08:00:30", time.Second, false, ""},
		{"2026-07-02T09:00", "2026-07-02T07:00:00Z", time.Minute, false, ""},
		{"2026-03-29T02:30", "2026-03-29T01:00:00Z", time.Minute, true, "never showed 2026-03-29 02:30:00"},
		{"2026-10-25T02:30", "2026-10-25T00:30:00Z", time.Minute, false, "twice"},
	} {
		m, err := why.ParseMoment(test.text, berlin, now)
		if err != nil || !m.At.Equal(at(test.want)) || m.Span != test.span || m.Jumped != test.jumped || !strings.Contains(m.Note, test.note) ||
			(test.note == "") != (m.Note == "") {
			t.Errorf("%s: %+v, %v", test.text, m, err)
		}
	}
	for _, text := range []string{"", "soon", "2026-03-02", "-soon", "-P1M", "09:00", "2026-13-02T09:00Z", "2026-02-30T09:00", "--2h"} {
		if m, err := why.ParseMoment(text, berlin, now); err == nil || !strings.Contains(err.Error(), "write 2026-03-02T09:00Z") {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
}
