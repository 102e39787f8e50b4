package store

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDamagedFile flips a byte in every record of a file: the store opens, tells of it, and has all that is not in that record;
// the next start finds nothing wrong. Messages whose queue's record is lost have their queue again.
func TestDamagedFile(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	s, err := Open(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	one, two := Name{Account: "a", Queue: "one"}, Name{Account: "a", Queue: "two"}
	for _, name := range []Name{one, two} {
		if _, err := s.CreateQueue(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	const each = 6
	for i := range each {
		for _, name := range []Name{one, two} {
			if _, err := s.Put(name, fmt.Sprintf("message %d", i), now, now.Add(time.Hour), now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := len("carillon storage queues 1\n"); i < len(whole); i += 17 {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 4
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(files[0])), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		cfg := Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		s, err := Open(cfg)
		if err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		left := count(t, s, one, now) + count(t, s, two, now)
		if left != 2*each-1 && left != 2*each || !strings.Contains(log.String(), "the log is damaged") {
			t.Errorf("byte %d: %d messages of %d; %s", i, left, 2*each, &log)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		if s, err = Open(cfg); err != nil {
			t.Fatal(err)
		}
		if again := count(t, s, one, now) + count(t, s, two, now); again != left || log.Len() > 0 {
			t.Errorf("byte %d: %d messages at the next start; %s", i, again, &log)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// count returns how many messages a queue has, 0 when it was lost.
func count(t *testing.T, s *Store, name Name, now time.Time) int {
	t.Helper()
	q, err := s.Queue(name, now)
	if err != nil {
		return 0
	}
	return q.Messages
}
