package netreason_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/actions/netreason"
)

func TestTimedOut(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	for _, test := range []struct {
		timeout, elapsed time.Duration
		stage, want      string
	}{
		{time.Minute, time.Minute + time.Millisecond, "", "timed out after 60s"},
		{time.Minute, 59 * time.Second, "", "timed out after 60s"},
		{time.Minute, 56250 * time.Millisecond, "", "timed out after 60s"},
		{time.Minute, 56249 * time.Millisecond, "", "timed out after 56.249s"},
		{time.Minute, 1500*time.Millisecond + time.Microsecond, "", "timed out after 1.5s"},
		{time.Minute, 20 * time.Millisecond, "while connecting", "timed out after 20ms while connecting"},
		{0, 3 * time.Second, "", "timed out after 3s"},
		{50 * time.Millisecond, 51 * time.Millisecond, "", "timed out after 50ms"},
		{90500 * time.Millisecond, 91 * time.Second, "", "timed out after 90.5s"},
		{30 * time.Minute, 30 * time.Minute, "", "timed out after 1800s"},
	} {
		if got := netreason.Ended(ctx, test.stage, test.timeout, test.elapsed); got != test.want {
			t.Errorf("%v after %v: got %q, want %q", test.timeout, test.elapsed, got, test.want)
		}
	}
}

func TestCanceled(t *testing.T) {
	if got := netreason.Ended(t.Context(), "while connecting", time.Minute, time.Hour); got != "" {
		t.Errorf("not ended: got %q", got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the worker\nstops"))
	if got := netreason.Ended(ctx, "", time.Minute, time.Hour); got != "canceled: the worker stops" {
		t.Errorf("got %q", got)
	}
	if got := netreason.Ended(ctx, "while connecting", time.Minute, time.Hour); got != "canceled while connecting: the worker stops" {
		t.Errorf("with a stage: got %q", got)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	cancel(errors.New(strings.Repeat("x", 1000)))
	if got := netreason.Ended(ctx, "", 0, 0); len(got) != netreason.Max {
		t.Errorf("%d bytes", len(got))
	}
}
