package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names are the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// begin begins a snapshot.
func begin(t *testing.T, l *Log) *Snapshot {
	t.Helper()
	s, err := l.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// snapshot makes one with some parts.
func snapshot(t *testing.T, l *Log, parts ...string) {
	t.Helper()
	s := begin(t, l)
	for _, part := range parts {
		if err := s.Add([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Done(nil); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshot has records before, while and after one is made, written or not when it begins and ends.
func TestSnapshot(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		dir := t.TempDir()
		l, _ := open(t, dir, format)
		put(t, l, "old 1", "old 2")
		before := l.Append([]byte("old 3"))
		s := begin(t, l)
		if _, err := l.Snapshot(); err == nil {
			t.Error("there are two snapshots at a time")
		}
		put(t, l, "meanwhile 1")
		if err := errors.Join(s.Add([]byte("part 1")), s.Add([]byte("part 2"))); err != nil {
			t.Fatal(err)
		}
		put(t, l, "meanwhile 2")
		pending := l.Append([]byte("meanwhile 3"))
		if err := s.Done(nil); err != nil {
			t.Fatal(err)
		}
		for _, position := range []Position{before, pending} {
			if err := l.Wait(position); err != nil {
				t.Fatal(err)
			}
		}
		put(t, l, "after")
		size := l.Size()
		closeLog(t, l)
		if want := int64(len(file(t, dir, ".log")) - len(format.head(1))); size != want {
			t.Errorf("size %d, want %d", size, want)
		}
		want := []string{"queues-000002.log", "queues.lock"}
		if format.segmented {
			want = []string{fmt.Sprintf("%016x.log", before), fmt.Sprintf("%016x.snapshot", before), "lock"}
		}
		if diff := cmp.Diff(want, names(t, dir)); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		l, c := open(t, dir, format)
		same(t, []string{"part 1", "part 2", "meanwhile 1", "meanwhile 2", "meanwhile 3", "after"}, c.all())
		snapshot(t, l, "again")
		closeLog(t, l)
		l, c = open(t, dir, format)
		same(t, []string{"again"}, c.all())
		closeLog(t, l)
	})
}

func TestSnapshotOfNothing(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		dir := t.TempDir()
		l, _ := open(t, dir, format)
		put(t, l, "old")
		snapshot(t, l)
		put(t, l, "new")
		closeLog(t, l)
		wantRecords(t, dir, format, "new")
	})
}

// TestEmptyPart is of a segmented log, whose records are not empty.
func TestEmptyPart(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, segmented)
	snapshot(t, l, "part 1", "")
	closeLog(t, l)
	_, c := open(t, dir, segmented)
	same(t, []string{"part 1", ""}, c.parts)
}

// TestFailedSnapshot shows that the log so far stays.
func TestFailedSnapshot(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		dir := t.TempDir()
		l, _ := open(t, dir, format)
		put(t, l, "old")
		s := begin(t, l)
		err := s.Add([]byte("state"))
		put(t, l, "meanwhile")
		wrong := errors.New("wrong")
		if err := s.Done(errors.Join(err, wrong)); !errors.Is(err, wrong) {
			t.Errorf("got %v", err)
		}
		put(t, l, "new")
		closeLog(t, l)
		for _, name := range names(t, dir) {
			if extension := filepath.Ext(name); extension == ".new" || extension == ".tmp" || extension == ".snapshot" {
				t.Errorf("%s is left", name)
			}
		}
		wantRecords(t, dir, format, "old", "meanwhile", "new")
	})
}

// TestClosedMeanwhile closes a log while a snapshot is made.
func TestClosedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, single)
	put(t, l, "old")
	s := begin(t, l)
	if err := s.Add([]byte("state")); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if err := s.Done(nil); err == nil {
		t.Error("a closed log was replaced")
	}
	wantRecords(t, dir, single, "old")
}

func TestCorruptSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, segmented)
	snapshot(t, l, "state")
	closeLog(t, l)
	content, name := file(t, dir, ".snapshot"), path(t, dir, ".snapshot")
	flipped := append([]byte(nil), content...)
	flipped[len(flipped)-12] = '?'
	for _, damaged := range [][]byte{content[:len(content)-1], flipped, {}} {
		write(t, name, damaged)
		if _, err := Open((&contents{}).config(dir, segmented)); !isCorrupt(err) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*CorruptError](err)
	return ok
}

// TestCrashedSnapshot has what is left when the process is killed at each step.
func TestCrashedSnapshot(t *testing.T) {
	content := func(records ...string) []byte {
		b, _ := framed(single, 1, records...)
		return b
	}
	for _, test := range []struct {
		name   string
		format Format
		files  map[string][]byte
		want   []string
	}{
		{"before the rename", single, map[string][]byte{
			"queues-000001.log": content("old"), "queues-000002.new": content("new"),
		}, []string{"old"}},
		{"after the rename", single, map[string][]byte{
			"queues-000001.log": content("old"), "queues-000002.log": content("new"),
		}, []string{"new"}},
		{"beside", segmented, map[string][]byte{"0000000000000000.snapshot.tmp": []byte("half")}, nil},
	} {
		dir := t.TempDir()
		for name, b := range test.files {
			write(t, filepath.Join(dir, name), b)
		}
		wantRecords(t, dir, test.format, test.want...)
		if got := names(t, dir); len(got) != 2 {
			t.Errorf("%s: left are %q", test.name, got)
		}
	}
}
