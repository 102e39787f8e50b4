package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/scheduler/explain"
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
		m, err := explain.ParseMoment(test.text, berlin, now)
		if err != nil || !m.At.Equal(at(test.want)) || m.Span != test.span || m.Jumped != test.jumped || !strings.Contains(m.Note, test.note) ||
			(test.note == "") != (m.Note == "") {
			t.Errorf("%s: %+v, %v", test.text, m, err)
		}
	}
	for _, text := range []string{"", "soon", "2026-03-02", "-soon", "-P1M", "09:00", "2026-13-02T09:00Z", "2026-02-30T09:00", "--2h"} {
		if m, err := explain.ParseMoment(text, berlin, now); err == nil || !strings.Contains(err.Error(), "write 2026-03-02T09:00Z") {
			t.Errorf("%q: %+v, %v", text, m, err)
		}
	}
}

// TestParseFuture reads times to come in all forms. It is a Monday.
func TestParseFuture(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := at("12:00:00.9")
	for text, want := range map[string]string{
		"2h": "14:00:00", "+2h": "14:00:00", "PT90M": "13:30:00", "1d12h": "2026-03-04T00:00:00Z", "P1M": "2026-04-02T12:00:00Z",
		"14:00": "13:00:00", "13:00": "2026-03-03T12:00:00Z", "12:30": "2026-03-03T11:30:00Z", "13:00:02": "12:00:02",
		"tomorrow": "2026-03-02T23:00:00Z", "tomorrow 9:00": "2026-03-03T08:00:00Z", "Tomorrow at 09:00": "2026-03-03T08:00:00Z",
		"today 18:00": "17:00:00", "monday": "2026-03-08T23:00:00Z", "tue 9:00": "2026-03-03T08:00:00Z", "Friday 17:30": "2026-03-06T16:30:00Z",
		"2026-03-03": "2026-03-02T23:00:00Z", "2026-03-03T09:00": "2026-03-03T08:00:00Z", "2026-03-03 09:00": "2026-03-03T08:00:00Z",
		"2026-03-03T09:00Z": "2026-03-03T09:00:00Z", "2026-03-03T09:00:00+02:00": "2026-03-03T07:00:00Z",
		"2026-03-29T02:30": "2026-03-29T01:00:00Z", "sunday 9:00": "2026-03-08T08:00:00Z",
	} {
		got, err := explain.ParseFuture(text, berlin, now)
		if err != nil || !got.Equal(at(want)) {
			t.Errorf("%q: %s, %v; want %s", text, got.UTC().Format(time.RFC3339), err, at(want).Format(time.RFC3339))
		}
	}
	for text, says := range map[string]string{
		"": "is empty", "soon": "is not a time", "now": "has passed", "today": "has passed", "-2h": "has passed", "2026-03-02T09:00Z": "has passed",
		"tomorrow 25:00": "is not a time", "monday tuesday": "is not a time", "9": "is not a time", "at 9:00 9:00 9:00": "is not a time", "0s": "has passed",
		"9999-12-31T23:59:59-05:00": "is after the year 9999",
	} {
		got, err := explain.ParseFuture(text, berlin, now)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "write 2h") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// FuzzParseFuture looks for texts that are read as a time that has passed, or cannot be written.
func FuzzParseFuture(f *testing.F) {
	for _, text := range []string{"2h", "tomorrow 9:00", "sunday at 24:00", "9999-12-31T23:59:59Z", "P9999Y", "at", "2026-03-29 02:30"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := explain.ParseFuture(text, time.UTC, at("12:00:00")); err == nil && (!got.After(at("12:00:00")) || got.Year() > 9999) {
			t.Errorf("%q is %s", text, got)
		}
	})
}
