package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/carillon-sched/carillon/integration/emulator/internal/wal"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue/internal/wire"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// golden has the bytes that a file has after fill. Data of users has this format: it does not change.
const golden = "testdata/format1"

// filledAt is when fill was.
var filledAt = start.Add(time.Minute)

// fill has one of everything that is kept, part of it in a rewritten file and part of it appended after.
func fill(t *testing.T, s *Store) {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	gone := Name{Account: "account", Queue: "gone"}
	_, err := s.CreateQueue(orders, map[string]string{"color": "red"})
	check(err)
	_, err = s.CreateQueue(gone, nil)
	check(err)
	check(s.SetPolicies(orders, []wire.Policy{{ID: "a", Start: start, Permission: "r"}}))
	check(s.ChangeProperties("account", func(p wire.Properties) (wire.Properties, error) {
		p.Logging.Read = true
		return p, nil
	}))
	put(t, s, "deleted", 0, start)
	put(t, s, "taken twice", 0, start)
	put(t, s, "hidden", 30*time.Minute, start)
	other := Name{Account: "account", Queue: "other"}
	_, err = s.CreateQueue(other, nil)
	check(err)
	check(s.Delete(orders, take(t, s, 1, 0, start)[0].ID, take(t, s, 1, 0, start)[0].Receipt, start))
	take(t, s, 1, time.Second, start)
	s.rewrite(math.MaxInt64)
	take(t, s, 1, 10*time.Minute, filledAt)
	updated := put(t, s, "old", 0, filledAt)
	_, err = s.Update(orders, updated.ID, updated.Receipt, new("updated"), filledAt, filledAt)
	check(err)
	put(t, s, "visible", 0, filledAt)
	check(s.SetMetadata(orders, map[string]string{"color": "blue"}))
	check(s.DeleteQueue(gone))
	m, err := s.Put(orders, "moved", filledAt, filledAt.Add(2*time.Hour), filledAt)
	check(err)
	check(s.Move(orders, m.ID, other.Queue, start.Add(3*time.Hour), filledAt))
}

// TestFormat opens golden data: it holds what fill writes, and can be used.
func TestFormat(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS(golden)))
	old := must.Get(Open(Config{Dir: dir}))(t)
	defer func() { _ = old.Close() }()
	fresh := must.Get(Open(Config{Dir: t.TempDir()}))(t)
	defer func() { _ = fresh.Close() }()
	fill(t, fresh)
	unlike := gocmp.FilterPath(func(p gocmp.Path) bool {
		name := p.Last().String()
		return name == ".ID" && p.Index(-2).Type().Name() == "Message" || name == ".Receipt"
	}, gocmp.Ignore()) // they are random
	want, got := (&harness{store: fresh, now: filledAt}), (&harness{store: old, now: filledAt})
	wantProperties, wantQueues := want.state()
	properties, queues := got.state()
	if diff := gocmp.Diff(wantProperties, properties) + gocmp.Diff(wantQueues, queues, unlike); diff != "" {
		t.Errorf("the golden data (-want +got):\n%s", diff)
	}
	if got := texts(queues[0].Messages); !slices.Equal(got, []string{"taken twice", "hidden", "updated", "visible"}) {
		t.Errorf("the messages are %q", got)
	}
	for _, m := range queues[0].Messages {
		if _, err := old.Update(orders, m.ID, m.Receipt, nil, filledAt, filledAt); err != nil {
			t.Errorf("%s: the receipt is not taken: %v", m.Text, err)
		}
	}
	taken := take(t, old, 10, time.Minute, filledAt)
	if len(taken) != 4 || taken[0].Text != "taken twice" || taken[0].DequeueCount != 3 {
		t.Errorf("taken: %+v", taken)
	}
}

// TestNewerFormat refuses data with a kind of record that this version does not know: it names the file and the kind, and changes
// nothing.
func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	log, err := wal.Open(wal.Config{Dir: dir, Magic: fileMagic})
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{
		`{"op":"queue","account":"account","queue":"orders"}`, `{"op":"fly","account":"account","queue":"orders"}`,
		`{"op":"clear","account":"account","queue":"orders"}`,
	} {
		log.Append([]byte(record))
	}
	must.Do(t, log.Close())
	file := filepath.Join(dir, "0000000000000000.log")
	before := must.Get(os.ReadFile(file))(t)
	_, err = Open(Config{Dir: dir})
	if text := fmt.Sprint(err); !strings.Contains(text, file) || !strings.Contains(text, `"fly" is not a kind of record`) {
		t.Errorf("it is refused with %s", text)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file is another one: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 2 {
		t.Errorf("there are %d files beside it: %v", len(files), err)
	}
}

// TestDamagedFile flips a byte in every record of a file: the store opens, tells of it, and has all that is not in that record;
// the next start finds nothing wrong. Messages whose queue's record is lost have their queue again.
func TestDamagedFile(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	s := must.Get(Open(Config{Dir: dir}))(t)
	one, two := Name{Account: "a", Queue: "one"}, Name{Account: "a", Queue: "two"}
	for _, name := range []Name{one, two} {
		must.Get(s.CreateQueue(name, nil))(t)
	}
	const each = 6
	for i := range each {
		for _, name := range []Name{one, two} {
			must.Get(s.Put(name, fmt.Sprintf("message %d", i), now, now.Add(time.Hour), now))(t)
		}
	}
	must.Do(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole := must.Get(os.ReadFile(files[0]))(t)
	for i := len("carillon storage queues 1\n"); i < len(whole); i += 17 {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 4
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, filepath.Base(files[0])), damaged, 0o600))
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
		must.Do(t, s.Close())
		log.Reset()
		s = must.Get(Open(cfg))(t)
		if again := count(t, s, one, now) + count(t, s, two, now); again != left || log.Len() > 0 {
			t.Errorf("byte %d: %d messages at the next start; %s", i, again, &log)
		}
		must.Do(t, s.Close())
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
