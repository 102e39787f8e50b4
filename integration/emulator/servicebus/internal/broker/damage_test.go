package broker_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/carillon-sched/carillon/integration/bubble"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// TestDamagedJournal flips a byte in each stretch of a journal, in the records and in those of a snapshot: the broker comes up,
// tells of it, and has all messages but those of that record, or of the queue that it defines. Nothing is wrong after the next
// snapshot.
func TestDamagedJournal(t *testing.T) {
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		b, stop := start(t, broker.Config{Dir: dir})
		for _, name := range []string{"one", "two"} {
			must(b.CreateQueue(name, broker.Options{}))
		}
		for range 10 {
			send(t, b, "one", ids(1)...)
			send(t, b, "two", ids(1)...)
		}
		stop()
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	head := len("carillon journal 1\n")
	for i := head; i < len(whole); i += len(whole) / 40 {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 4
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(files[0])), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		bubble.Test(t, func(t *testing.T) {
			_, stop := start(t, broker.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			synctest.Wait() // for the snapshot
			stop()
		})
		left := messagesOf(t, dir, &log)
		if !strings.Contains(log.String(), "the journal is damaged") || left != 19 && left != 20 && (left != 10 || !strings.Contains(log.String(), "messages are lost")) {
			t.Errorf("byte %d: %d messages of 20; %s", i, left, &log)
		}
		log.Reset()
		if again := messagesOf(t, dir, &log); again != left || log.Len() > 0 {
			t.Errorf("byte %d: %d messages at the next start, of %d; %s", i, again, left, &log)
		}
	}
}

// messagesOf counts what a journal has.
func messagesOf(t *testing.T, dir string, log *strings.Builder) (n int) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		b, stop := start(t, broker.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(log, nil))})
		defer stop()
		for _, q := range b.Entities() {
			n += len(peek(t, b, q.Name))
		}
	})
	return n
}
