package wal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// headSize is that of a file.
const headSize = len(testMagic) + 8

// framed returns the first file of a log with records, and where each begins.
func framed(records ...string) (content []byte, begins []int) {
	content = append([]byte(testMagic), make([]byte, 8)...)
	for _, record := range records {
		begins = append(begins, len(content))
		content = frame(content, Position(len(content)-headSize), []byte(record))
	}
	return content, begins
}

// place writes the first file of a log.
func place(t *testing.T, dir string, content []byte) string {
	t.Helper()
	name := filepath.Join(dir, logs.of(0))
	write(t, name, content)
	return name
}

// TestOtherFiles shows that data of another format, which would look lost, is refused and left alone, and files of other names are
// not.
func TestOtherFiles(t *testing.T) {
	whole, _ := framed("record")
	for _, name := range []string{
		"queues.log", "1.snapshot", "x.snapshot.tmp", "000000000000000A.log", "ffffffffffffffff.log", "00000000000000001.log", ".log",
		"-000000000000001.log",
	} {
		dir := t.TempDir()
		place(t, dir, whole)
		other := filepath.Join(dir, name)
		write(t, other, nil)
		config := (&contents{}).config(dir)
		config.Restore, config.Replay = nil, nil // for nothing is read
		config.Damaged = func(e *CorruptError) { t.Error(e) }
		_, err := Open(config)
		if want := other + " is not a file of this log: move it away or delete it"; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		must.Do(t, os.Remove(other))
		for _, name := range []string{"notes.txt", "log", "queues.log.bak"} {
			write(t, filepath.Join(dir, name), nil)
		}
		wantRecords(t, dir, "record")
	}
}

// TestTornTail cuts a file at every byte.
func TestTornTail(t *testing.T) {
	whole, begins := framed("whole", "torn record")
	for length := range whole {
		dir := t.TempDir()
		place(t, dir, whole[:length])
		var want []string
		if length >= begins[1] {
			want = []string{"whole"}
		}
		l, c := open(t, dir)
		same(t, want, c.records)
		put(t, l, "next")
		closeLog(t, l)
		wantRecords(t, dir, append(want, "next")...)
	}
}

// TestTornTailIsNoDamage cuts a file at every byte, and has zeros at its end: that is how a process or power ends, and nobody is told
// of damage.
func TestTornTailIsNoDamage(t *testing.T) {
	whole, _ := framed("whole", "torn record")
	tails := [][]byte{append(bytes.Clone(whole), make([]byte, 9000)...)}
	for length := range whole {
		tails = append(tails, whole[:length])
	}
	for _, content := range tails {
		dir := t.TempDir()
		place(t, dir, content)
		config := (&contents{}).config(dir)
		config.Damaged = func(e *CorruptError) { t.Errorf("%d bytes of %d: %v", len(content), len(whole), e) }
		l := must.Get(Open(config))(t)
		if l.Salvaged() {
			t.Errorf("%d bytes of %d: something was passed over", len(content), len(whole))
		}
		closeLog(t, l)
	}
}

// TestDamageBeforeMuch has a damaged record that is long, and looks like the heads of many long ones, before much else: the next one is
// found by the length of the damaged one, and not by trying all that could be records.
func TestDamageBeforeMuch(t *testing.T) {
	heads := strings.Repeat("\x00\x0f\xff\xff", 64<<10)
	whole, begins := framed(heads, strings.Repeat("y", 2<<20), "last")
	whole[begins[0]+100] ^= 1
	dir := t.TempDir()
	place(t, dir, whole)
	c := &contents{}
	config := c.config(dir)
	config.Damaged = func(*CorruptError) {}
	l := must.Get(Open(config))(t)
	if len(c.records) != 2 || c.records[1] != "last" { // a search would be exhausted before
		t.Errorf("%d records", len(c.records))
	}
	closeLog(t, l)
}

// TestLongTornTail has a long record that was not finished, and that looks like the heads of many long ones. The search for
// an intact record in it is bounded.
func TestLongTornTail(t *testing.T) {
	record := strings.Repeat("\x00\x00\x7f\xff\xff\x7f\x00\x00", 128<<10)
	whole, begins := framed("whole", record)
	dir := t.TempDir()
	place(t, dir, whole[:len(whole)-1])
	c := &contents{}
	config := c.config(dir)
	config.Damaged = func(e *CorruptError) { t.Error(e) }
	l := must.Get(Open(config))(t)
	closeLog(t, l)
	same(t, []string{"whole"}, c.records)
	if _, exhausted := find(whole[begins[1]:len(whole)-1], Position(begins[1]-headSize)); !exhausted {
		t.Error("the search has no bound")
	}
}

// TestZeroTail has what some file systems leave after losing power.
func TestZeroTail(t *testing.T) {
	dir := t.TempDir()
	whole, _ := framed("whole")
	place(t, dir, append(whole, make([]byte, 9000)...))
	wantRecords(t, dir, "whole")
	place(t, dir, make([]byte, headSize))
	wantRecords(t, dir)
}

// TestDamage flips every byte before the last record in turn, and more.
func TestDamage(t *testing.T) {
	whole, begins := framed("first", "second")
	for i := range begins[1] {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		offset := begins[0]
		if i < offset {
			offset = 0 // the head of the file
		}
		wantCorrupt(t, damaged, offset)
	}
	wantCorrupt(t, []byte("something else entirely, and nothing of ours"), 0)
}

// wantCorrupt opens a damaged file: the error says where, and the file stays as it is.
func wantCorrupt(t *testing.T, content []byte, offset int) {
	t.Helper()
	dir := t.TempDir()
	name := place(t, dir, content)
	_, err := Open((&contents{}).config(dir))
	corrupt, ok := errors.AsType[*CorruptError](err)
	if !ok || corrupt.Offset != int64(offset) || corrupt.File != name {
		t.Errorf("%q: %v, want one at byte %d", content, err, offset)
	}
	if got := file(t, dir, ".log"); !bytes.Equal(got, content) {
		t.Error("the file has changed")
	}
}

// TestRecordInRecord shows that a record which has the end of another log within is not taken for two.
func TestRecordInRecord(t *testing.T) {
	inner, _ := framed("inner")
	whole, _ := framed("outer" + string(inner))
	dir := t.TempDir()
	place(t, dir, whole[:len(whole)-1])
	wantRecords(t, dir)
}

func TestMissingLog(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "one")
	snapshot(t, l)
	closeLog(t, l)
	must.Do(t, os.Remove(path(t, dir, ".snapshot")))
	if _, err := Open((&contents{}).config(dir)); err == nil {
		t.Error("no error")
	}
}

func TestOneOwner(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	if _, err := Open((&contents{}).config(dir)); !errors.Is(err, ErrLocked) {
		t.Errorf("a second owner: %v", err)
	}
	put(t, l, "one")
	closeLog(t, l)
	config, refusal := (&contents{}).config(dir), errors.New("no")
	config.Replay = func(Position, []byte) error { return refusal }
	if _, err := Open(config); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	wantRecords(t, dir, "one") // the lock is free again
}

// TestFileNames has names that are like those of a log.
func TestFileNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"0000000000000010.log", "10.log.bak", "queues-000001", "0000000000000001.snapshot", "lock", "0000000000000002.snapshot.tmp",
	} {
		write(t, filepath.Join(dir, name), nil)
	}
	for suffix, want := range map[fileName][]Position{logs: {16}, snapshots: {1}, drafts: {2}} {
		if got, err := suffix.list(dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", suffix, got, err)
		}
	}
}

// FuzzOpen opens a log with anything in its file: it comes up with a prefix or an error, and comes up the same again.
// What it takes is what was framed.
func FuzzOpen(f *testing.F) {
	whole, begins := framed("one", "two")
	f.Add(whole)
	f.Add(whole[:begins[0]])
	f.Add(append(whole[:begins[0]:begins[0]], make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := t.TempDir()
		place(t, dir, content)
		first := &contents{}
		l, err := Open(first.config(dir))
		if err != nil {
			return
		}
		closeLog(t, l)
		if whole, _ := framed(first.records...); !bytes.Equal(file(t, dir, ".log"), whole) {
			t.Errorf("%q was read from %q", first.records, content)
		}
		wantRecords(t, dir, first.records...)
	})
}

// TestDamageIsPassedOver flips every byte of a log in turn: it opens, tells once what is wrong, gives back every other record,
// keeps the file as it was, and after a snapshot nothing is wrong any more.
func TestDamageIsPassedOver(t *testing.T) {
	records := []string{"first", "second", "third", "fourth"}
	whole, begins := framed(records...)
	version := len(testMagic) - 2
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		dir := t.TempDir()
		place(t, dir, damaged)
		c, told := &contents{}, []*CorruptError{}
		config := c.config(dir)
		config.Damaged = func(e *CorruptError) { told = append(told, e) }
		l, err := Open(config)
		if i >= version && i < len(testMagic) { // of another version
			if _, ok := errors.AsType[*CorruptError](err); !ok || len(told) > 0 {
				t.Errorf("byte %d: %v, told %v", i, err, told)
			}
			continue
		}
		if err != nil {
			t.Fatalf("byte %d: %v", i, err)
		}
		lost := -1
		for n, begin := range begins {
			if i >= begin {
				lost = n
			}
		}
		want := slices.Clone(records)
		if lost >= 0 {
			want = slices.Delete(want, lost, lost+1)
		}
		same(t, want, c.records)
		if len(told) != 1 || !l.Salvaged() {
			t.Fatalf("byte %d: told %v", i, told)
		}
		if kept, err := os.ReadFile(told[0].Kept); err != nil || !bytes.Equal(kept, damaged) {
			t.Errorf("byte %d: the file is not kept: %v", i, err)
		}
		put(t, l, "next")
		snapshot(t, l, append(want, "next")...)
		closeLog(t, l)
		c = &contents{}
		config = c.config(dir)
		config.Damaged = func(e *CorruptError) { t.Errorf("byte %d: after the snapshot: %v", i, e) }
		l = must.Get(Open(config))(t)
		same(t, append(want, "next"), c.all())
		closeLog(t, l)
	}
}
