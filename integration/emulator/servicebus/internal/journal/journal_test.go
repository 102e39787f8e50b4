package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/journal"
)

// contents are what a log has given back.
type contents struct {
	parts, records []string
	positions      []journal.Position
}

func (c *contents) Restore(part []byte) error {
	c.parts = append(c.parts, string(part))
	return nil
}

func (c *contents) Replay(position journal.Position, record []byte) error {
	c.records = append(c.records, string(record))
	c.positions = append(c.positions, position)
	return nil
}

func open(tb testing.TB, dir string) (*journal.Log, *contents) {
	tb.Helper()
	c := &contents{}
	l, err := journal.Open(journal.Config{Dir: dir}, c)
	if err != nil {
		tb.Fatal(err)
	}
	return l, c
}

func closeLog(tb testing.TB, l *journal.Log) {
	tb.Helper()
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestReplay(t *testing.T) {
	dir := t.TempDir()
	l, c := open(t, dir)
	same(t, nil, c.records)
	first := l.Append([]byte("one"))
	second := l.Append([]byte("two"))
	if err := l.Wait(second); err != nil || !l.Written(first) {
		t.Fatal(err)
	}
	closeLog(t, l)
	l, c = open(t, dir)
	same(t, []string{"one", "two"}, c.records)
	if !slices.Equal(c.positions, []journal.Position{first, second}) || l.Next() != second {
		t.Errorf("positions %v, %v", c.positions, l.Next())
	}
	l.Append([]byte("three"))
	closeLog(t, l)
	l, c = open(t, dir)
	same(t, []string{"one", "two", "three"}, c.records)
	closeLog(t, l)
}

// TestConfirmedIsInTheFile reads the file as another process would after this one was killed.
func TestConfirmedIsInTheFile(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	defer closeLog(t, l)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				record := fmt.Appendf(nil, "<%d.%d>", i, j)
				if err := l.Wait(l.Append(record)); err != nil {
					t.Error(err)
				}
				if content := file(t, dir, ".log"); !bytes.Contains(content, record) {
					t.Errorf("%s is not in the file", record)
				}
			}
		})
	}
	group.Wait()
}

// path returns the only file with a suffix.
func path(tb testing.TB, dir, suffix string) string {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil || len(names) != 1 {
		tb.Fatalf("%v, %v", names, err)
	}
	return names[0]
}

func file(tb testing.TB, dir, suffix string) []byte {
	tb.Helper()
	content, err := os.ReadFile(path(tb, dir, suffix))
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	l.Append([]byte("old"))
	err := l.Snapshot(func(s *journal.Snapshot) error {
		l.Append([]byte("meanwhile"))
		return errors.Join(s.Add([]byte("part 1")), s.Add(nil))
	})
	if err != nil {
		t.Fatal(err)
	}
	l.Append([]byte("new"))
	closeLog(t, l)
	l, c := open(t, dir)
	same(t, []string{"part 1", ""}, c.parts)
	same(t, []string{"meanwhile", "new"}, c.records)
	if want := int64(len("meanwhile") + len("new") + 16); l.Size() != want {
		t.Errorf("size %d, want %d", l.Size(), want)
	}
	path(t, dir, ".log") // one only
	closeLog(t, l)
}

// TestFailedSnapshot shows that the log so far stays.
func TestFailedSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	l.Append([]byte("old"))
	wrong := errors.New("wrong")
	if err := l.Snapshot(func(*journal.Snapshot) error { return wrong }); !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	l.Append([]byte("new"))
	closeLog(t, l)
	l, c := open(t, dir)
	same(t, []string{"old", "new"}, c.records)
	closeLog(t, l)
}

// TestTornTail cuts the file at every byte of the last record.
func TestTornTail(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	l.Append([]byte("whole"))
	l.Append([]byte("torn record"))
	closeLog(t, l)
	name, content := path(t, dir, ".log"), file(t, dir, ".log")
	for cut := 1; cut < 8+len("torn record"); cut++ {
		if err := os.WriteFile(name, content[:len(content)-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l, c := open(t, dir)
		same(t, []string{"whole"}, c.records)
		l.Append([]byte("next"))
		closeLog(t, l)
		l, c = open(t, dir)
		same(t, []string{"whole", "next"}, c.records)
		closeLog(t, l)
	}
}

func TestZeroTail(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	l.Append([]byte("whole"))
	closeLog(t, l)
	if err := os.WriteFile(path(t, dir, ".log"), append(file(t, dir, ".log"), make([]byte, 5000)...), 0o600); err != nil {
		t.Fatal(err)
	}
	l, c := open(t, dir)
	same(t, []string{"whole"}, c.records)
	closeLog(t, l)
}

// TestCorruptMiddle flips every byte of the first record in turn.
func TestCorruptMiddle(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	l.Append([]byte("first"))
	l.Append([]byte("second"))
	closeLog(t, l)
	name, content := path(t, dir, ".log"), file(t, dir, ".log")
	head := len(content) - len("first") - len("second") - 16
	for i := head; i < head+8+len("first"); i++ {
		damaged := bytes.Clone(content)
		damaged[i] ^= 0x55
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := journal.Open(journal.Config{Dir: dir}, &contents{})
		corrupt, ok := errors.AsType[*journal.CorruptError](err)
		if !ok || corrupt.Offset != int64(head) || corrupt.File != name {
			t.Fatalf("byte %d: %v", i, err)
		}
		if got := file(t, dir, ".log"); !bytes.Equal(got, damaged) {
			t.Fatal("the file has changed")
		}
	}
}

// TestRecordInRecord shows that a record which has the end of another log within is not taken for two.
func TestRecordInRecord(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	l, _ := open(t, other)
	l.Append([]byte("inner"))
	closeLog(t, l)
	inner := file(t, other, ".log")
	l, _ = open(t, dir)
	l.Append(append([]byte("outer"), inner...))
	closeLog(t, l)
	content := file(t, dir, ".log")
	if err := os.WriteFile(path(t, dir, ".log"), content[:len(content)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	l, c := open(t, dir)
	same(t, nil, c.records)
	closeLog(t, l)
}

func TestCorruptSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	if err := l.Snapshot(func(s *journal.Snapshot) error { return s.Add([]byte("state")) }); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	content := file(t, dir, ".snapshot")
	for name, damaged := range map[string][]byte{
		"cut":     content[:len(content)-1],
		"flipped": append(bytes.Clone(content[:len(content)-12]), append([]byte{'?'}, content[len(content)-11:]...)...),
		"empty":   {},
	} {
		if err := os.WriteFile(path(t, dir, ".snapshot"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.Open(journal.Config{Dir: dir}, &contents{}); err == nil || !strings.Contains(err.Error(), "corrupt at offset") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnfinishedSnapshot(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "0000000000000000.snapshot.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, _ := open(t, dir)
	closeLog(t, l)
	if names, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(names) != 0 {
		t.Errorf("%v are left", names)
	}
}

func TestMissingLog(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	l.Append([]byte("one"))
	if err := l.Snapshot(func(*journal.Snapshot) error { return nil }); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if err := os.Remove(path(t, dir, ".snapshot")); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(journal.Config{Dir: dir}, &contents{}); err == nil {
		t.Error("no error")
	}
}

func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	if _, err := journal.Open(journal.Config{Dir: dir}, &contents{}); err == nil {
		t.Error("a second owner")
	}
	closeLog(t, l)
	l, _ = open(t, dir)
	closeLog(t, l)
}

func TestClosed(t *testing.T) {
	l, _ := open(t, t.TempDir())
	closeLog(t, l)
	closeLog(t, l)
	if err := l.Wait(l.Append([]byte("late"))); err == nil {
		t.Error("a record after the end was confirmed")
	}
	if err := l.Snapshot(func(*journal.Snapshot) error { return nil }); err == nil {
		t.Error("a snapshot after the end")
	}
}

// TestFailedWrite shows that nothing is confirmed after a write has failed.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	if err := l.Wait(l.Append([]byte("kept"))); err != nil {
		t.Fatal(err)
	}
	l.Break()
	for range 3 {
		position := l.Append([]byte("lost"))
		if err := l.Wait(position); err == nil || l.Written(position) {
			t.Error("a record that was not written is confirmed")
		}
	}
	if err := l.Snapshot(func(*journal.Snapshot) error { return nil }); err == nil {
		t.Error("a snapshot of what is not written")
	}
	if err := l.Close(); err == nil {
		t.Error("closed as if nothing had happened")
	}
	l, c := open(t, dir)
	same(t, []string{"kept"}, c.records)
	closeLog(t, l)
}

func TestSync(t *testing.T) {
	dir := t.TempDir()
	l, err := journal.Open(journal.Config{Dir: dir, Sync: true}, &contents{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(l.Append([]byte("synced"))); err != nil {
		t.Error(err)
	}
	closeLog(t, l)
	l, c := open(t, dir)
	same(t, []string{"synced"}, c.records)
	closeLog(t, l)
}

// FuzzOpen opens a log with anything in its file: it comes up with a prefix or an error, and comes up the same again.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	l, _ := open(f, dir)
	l.Append([]byte("one"))
	l.Append([]byte("two"))
	closeLog(f, l)
	f.Add(file(f, dir, ".log"))
	name := filepath.Base(path(f, dir, ".log"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		first := &contents{}
		l, err := journal.Open(journal.Config{Dir: dir}, first)
		if err != nil {
			return
		}
		closeLog(t, l)
		l, again := open(t, dir)
		same(t, first.records, again.records)
		closeLog(t, l)
	})
}

func BenchmarkAppend(b *testing.B) {
	l, _ := open(b, b.TempDir())
	record := make([]byte, 1024)
	b.ReportAllocs()
	b.SetBytes(int64(len(record)))
	var last journal.Position
	for b.Loop() {
		last = l.Append(record)
		if last%(1<<24) < 1032 {
			if err := l.Wait(last); err != nil {
				b.Fatal(err)
			}
		}
	}
	closeLog(b, l)
}
