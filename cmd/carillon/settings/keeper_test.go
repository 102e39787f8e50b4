package settings_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/settings"
	"github.com/carillon-sched/carillon/integration/testkit/bubble"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// TestKeeperLooks shows when a file is read: when its content has changed and settled, and at once when asked.
func TestKeeperLooks(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "serve.yaml")
		write := func(text string) {
			must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		}
		write("a: 1")
		var log bytes.Buffer
		var reads atomic.Int32
		again := make(chan os.Signal, 1)
		k := settings.New(nil, settings.Config{
			Path: file, Seen: settings.Look(file), Every: settings.Every, Again: again, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Read: func(context.Context) (settings.Set, func() error, error) {
				reads.Add(1)
				text := settings.Look(file)
				if strings.HasPrefix(text, "a:") {
					return nil, func() error { return nil }, nil
				}
				return nil, nil, errors.New("no a")
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); k.Run(ctx) }()
		want := func(what string, n int32, refused bool) {
			t.Helper()
			synctest.Wait()
			if got := reads.Load(); got != n || k.State().Refused != refused {
				t.Errorf("%s: read %d times, refused %t; want %d, %t", what, got, k.State().Refused, n, refused)
			}
		}
		time.Sleep(time.Minute)
		want("nothing has changed", 0, false)
		write("a: 1\nb")
		time.Sleep(settings.Every + 100*time.Millisecond - time.Minute%settings.Every)
		write("a: 1\nb: 2") // while it is looked at
		time.Sleep(200 * time.Millisecond)
		want("it is being written to", 0, false)
		time.Sleep(time.Second)
		want("it has settled", 1, false)
		write("b: 2")
		time.Sleep(2 * settings.Every)
		want("it is wrong", 2, true)
		time.Sleep(time.Minute)
		want("it is still wrong", 2, true)
		must.Do(t, os.Remove(file))
		time.Sleep(2 * settings.Every)
		want("it is gone", 3, true)
		write("a: 3")
		again <- os.Interrupt
		want("asked for", 4, false)
		time.Sleep(time.Minute)
		want("no more than once", 4, false)
		stop()
		<-ended
		if n := strings.Count(log.String(), "changed settings are invalid"); n != 2 {
			t.Errorf("%d complaints, want one for each change:\n%s", n, log.String())
		}
	})
}
