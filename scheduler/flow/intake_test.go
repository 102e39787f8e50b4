package flow

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/scheduler"
)

// told reports whether a channel has a value.
func told(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestRoom shows what may be asked for while messages come and go.
func TestRoom(t *testing.T) {
	r := NewBuffer[int](4, 2, 2)
	if !r.Empty() || r.Ask() != 4 {
		t.Fatalf("empty %t, room for %d, want 4", r.Empty(), r.Ask())
	}
	if !r.Keep(1) || !told(r.Busy()) {
		t.Error("the first message is not told")
	}
	if r.Keep(1) {
		t.Error("a message is kept twice")
	}
	r.Keep(2)
	if r.Ask() != 2 || told(r.Busy()) {
		t.Errorf("room for %d, want 2", r.Ask())
	}
	r.Keep(3)
	if r.Free() != 1 || r.Ask() != 0 {
		t.Errorf("%d free, room for %d: less than a batch is not worth asking for", r.Free(), r.Ask())
	}
	r.Release(1)
	if r.Ask() != 2 || !told(r.Wake(0)) || !told(r.Wake(1)) {
		t.Errorf("room for %d, want 2, and both sources told", r.Ask())
	}
	r.Release(1) // it is not held any more
	r.Release(2)
	if told(r.Wake(0)) {
		t.Error("told of room again")
	}
}

// TestRoomInBytes shows that no more is asked for while what is held has too many bytes.
func TestRoomInBytes(t *testing.T) {
	r := NewBuffer[int](10, 1, 1).Bound(100, 1)
	r.KeepSized(1, 60)
	if r.Ask() != 9 {
		t.Errorf("room for %d, want 9", r.Ask())
	}
	r.KeepSized(2, 60)
	r.KeepSized(3, 30)
	if r.Ask() != 0 {
		t.Errorf("room for %d beside 150 bytes", r.Ask())
	}
	r.Release(3)
	if r.Ask() != 0 || told(r.Wake(0)) {
		t.Errorf("room for %d beside 120 bytes", r.Ask())
	}
	r.Release(1)
	if r.Ask() != 9 || !told(r.Wake(0)) {
		t.Errorf("room for %d beside 60 bytes, want 9, and the source told", r.Ask())
	}
}

// TestRoomForHowMany shows that as many are asked for as there is room for in bytes, when they are as long as they are taken to be.
func TestRoomForHowMany(t *testing.T) {
	r := NewBuffer[int](10, 2, 1).Bound(100, 20)
	if r.Ask() != 5 {
		t.Errorf("room for %d, want 5", r.Ask())
	}
	r.KeepSized(1, 20)
	r.KeepSized(2, 20)
	if r.Ask() != 3 || r.Size() != 40 {
		t.Errorf("room for %d beside %d bytes, want 3 beside 40", r.Ask(), r.Size())
	}
	r.Resize(1, 50) // it has turned out to be longer
	if r.Ask() != 0 || r.Size() != 70 {
		t.Errorf("room for %d beside %d bytes: less than a batch is not worth asking for", r.Ask(), r.Size())
	}
	r.Resize(3, 50) // it is not held
	r.Resize(1, 10)
	if r.Ask() != 3 || r.Size() != 30 || !told(r.Wake(0)) {
		t.Errorf("room for %d beside %d bytes, want 3, and the source told", r.Ask(), r.Size())
	}
}

// TestPersist shows how long a write is repeated.
func TestPersist(t *testing.T) {
	away := errors.Join(scheduler.ErrUnavailable)
	for name, test := range map[string]struct {
		answers []error       // of the store, the last one for ever
		stop    time.Duration // 0: never
		want    error
		tries   int
		took    time.Duration
	}{
		"taken at once":       {[]error{nil}, 0, nil, 1, 0},
		"refused at once":     {[]error{scheduler.ErrConflict}, 0, scheduler.ErrConflict, 1, 0},
		"away twice":          {[]error{away, away, nil}, 0, nil, 3, 100 * time.Millisecond},
		"away, and refused":   {[]error{away, scheduler.ErrConflict}, 0, scheduler.ErrConflict, 2, 50 * time.Millisecond},
		"away until the stop": {[]error{away}, time.Minute, scheduler.ErrUnavailable, 52, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				stop, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.stop > 0 {
					time.AfterFunc(test.stop, cancel)
				}
				began, tries := time.Now(), 0
				p := NewRetryWriter(slog.New(slog.DiscardHandler))
				err := p.Persist(t.Context(), stop, "default/job", func(context.Context) error {
					tries++
					return test.answers[min(tries, len(test.answers))-1]
				})
				if !errors.Is(err, test.want) || tries != test.tries || time.Since(began) != test.took {
					t.Errorf("%v after %d tries in %s, want %v after %d in %s", err, tries, time.Since(began), test.want, test.tries, test.took)
				}
			})
		})
	}
}

// TestManyWritesThatWaitAreToldTogether shows that the log is not flooded while a server restarts amid a herd: it is told
// at once, every ten seconds, and when it is over.
func TestManyWritesThatWaitAreToldTogether(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var text strings.Builder
		p := NewRetryWriter(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		})))
		back := time.Now().Add(24 * time.Second)
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Microsecond)
				err := p.Persist(t.Context(), t.Context(), "default/job", func(context.Context) error {
					if time.Now().Before(back) {
						return scheduler.ErrUnavailable
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		var waiting []string
		lines := strings.Split(strings.TrimSpace(text.String()), "\n")
		for _, line := range lines[:len(lines)-1] {
			_, rest, found := strings.Cut(line, "level=WARN msg=\"the store did not take a write; trying again\" job=default/job ")
			if !found {
				t.Errorf("unexpected: %s", line)
			}
			_, n, _ := strings.Cut(rest, "waiting=")
			n, _, _ = strings.Cut(n, " ")
			waiting = append(waiting, n)
		}
		if want := []string{"1", "1000", "1000"}; !slices.Equal(waiting, want) {
			t.Errorf("told of %v that wait, want %v", waiting, want)
		}
		if last := lines[len(lines)-1]; last != `level=INFO msg="no more writes wait for the store" waited=1000` {
			t.Errorf("at the end: %s", last)
		}
	})
}

// TestSeldom shows at which level a matter is told, and that what was left out is counted.
func TestSeldom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var s RateLimitedLog
		for i, want := range []struct {
			after  time.Duration
			level  slog.Level
			untold int
		}{
			{0, slog.LevelWarn, 0},
			{0, slog.LevelDebug, 0},
			{9 * time.Second, slog.LevelDebug, 0},
			{time.Second, slog.LevelWarn, 2},
			{time.Second, slog.LevelDebug, 0},
			{time.Hour, slog.LevelWarn, 1},
		} {
			time.Sleep(want.after)
			if level, untold := s.Level(); level != want.level || untold != want.untold {
				t.Errorf("%d. line: %v with %d untold, want %v with %d", i+1, level, untold, want.level, want.untold)
			}
		}
	})
}
