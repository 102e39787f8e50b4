package flow

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// TestParseWaitsForRoom shows that a document waits while others are parsed, behind those that came before it, and that who
// waits may give up.
func TestParseWaitsForRoom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		if err := parsing.Acquire(t.Context(), parsedAtOnce); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		given, order := make(chan error, 2), make(chan string, 2)
		go func() {
			_, err := Parse(ctx, []byte(`{}`))
			given <- err
		}()
		go func() { given <- CheckNoDocument(ctx, []byte(`{}`)) }()
		synctest.Wait()
		for _, text := range []string{`{"a": "` + strings.Repeat("x", 16_000) + `"}`, `{"b": 1}`} {
			go func() {
				v, err := Parse(t.Context(), []byte(text))
				if err != nil {
					t.Error(err)
				}
				order <- v.Members()[0].Name
			}()
			synctest.Wait()
		}
		cancel()
		for range 2 {
			if err := <-given; !errors.Is(err, context.Canceled) {
				t.Errorf("who gave up has %v", err)
			}
		}
		parsing.Release(1 << 10)
		synctest.Wait()
		if len(order) > 0 {
			t.Errorf("%s is parsed before its turn", <-order)
		}
		parsing.Release(parsedAtOnce - 1<<10)
		synctest.Wait()
		if len(order) != 2 {
			t.Errorf("%d are parsed, want both", len(order))
		}
	})
}

// TestParseRefuses shows that what is too long does not wait, and that the errors are the scheduler's.
func TestParseRefuses(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", scheduler.MaxJobSize+1), `{"a"`, ""} {
		if _, err := Parse(t.Context(), []byte(text)); !errors.Is(err, scheduler.ErrInvalid) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for text, want := range map[string]bool{"": true, " {} ": true, `{"a": 1}`: false, strings.Repeat(" ", 1<<20): true, strings.Repeat("x", 1<<20): false} {
		if err := CheckNoDocument(t.Context(), []byte(text)); (err == nil) != want {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
