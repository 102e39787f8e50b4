package wal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/google/go-cmp/cmp"
)

// names are the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// begin begins a snapshot.
func begin(t *testing.T, l *Log) *Snapshot {
	t.Helper()
	return must.Get(l.Snapshot())(t)
}

// snapshot makes one with some parts.
func snapshot(t *testing.T, l *Log, parts ...string) {
	t.Helper()
	s := begin(t, l)
	for _, part := range parts {
		must.Do(t, s.Add([]byte(part)))
	}
	must.Do(t, s.Done(nil))
}

// TestSnapshot has records before, while and after one is made, written or not when it begins and ends.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "old 1", "old 2")
	before := l.Append([]byte("old 3"))
	s := begin(t, l)
	if _, err := l.Snapshot(); err == nil {
		t.Error("there are two snapshots at a time")
	}
	put(t, l, "meanwhile 1")
	must.Do(t, errors.Join(s.Add([]byte("part 1")), s.Add([]byte("part 2"))))
	put(t, l, "meanwhile 2")
	pending := l.Append([]byte("meanwhile 3"))
	must.Do(t, s.Done(nil))
	for _, position := range []Position{before, pending} {
		must.Do(t, l.Wait(position))
	}
	put(t, l, "after")
	closeLog(t, l)
	want := []string{fmt.Sprintf("%016x.log", before), fmt.Sprintf("%016x.snapshot", before), "lock"}
	if diff := cmp.Diff(want, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	l, c := open(t, dir)
	same(t, []string{"part 1", "part 2", "meanwhile 1", "meanwhile 2", "meanwhile 3", "after"}, c.all())
	snapshot(t, l, "again")
	closeLog(t, l)
	l, c = open(t, dir)
	same(t, []string{"again"}, c.all())
	closeLog(t, l)
}

func TestSnapshotOfNothing(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "old")
	snapshot(t, l)
	put(t, l, "new")
	closeLog(t, l)
	wantRecords(t, dir, "new")
}

func TestEmptyPart(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	snapshot(t, l, "part 1", "")
	closeLog(t, l)
	_, c := open(t, dir)
	same(t, []string{"part 1", ""}, c.parts)
}

// TestFailedSnapshot shows that the log so far stays.
func TestFailedSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
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
	wantRecords(t, dir, "old", "meanwhile", "new")
}

// TestClosedMeanwhile closes a log while a snapshot is made: another process may have the directory by then.
func TestClosedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "old")
	s := begin(t, l)
	must.Do(t, s.Add([]byte("state")))
	closeLog(t, l)
	if err := s.Done(nil); !errors.Is(err, errClosed) {
		t.Errorf("a closed log was replaced: %v", err)
	}
	wantRecords(t, dir, "old")
}

func TestCorruptSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	snapshot(t, l, "state")
	closeLog(t, l)
	content, name := file(t, dir, ".snapshot"), path(t, dir, ".snapshot")
	flipped := append([]byte(nil), content...)
	flipped[len(flipped)-12] = '?'
	for _, damaged := range [][]byte{content[:len(content)-1], flipped, {}} {
		write(t, name, damaged)
		if _, err := Open((&contents{}).config(dir)); !isCorrupt(err) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

func isCorrupt(err error) bool {
	_, ok := errors.AsType[*CorruptError](err)
	return ok
}

// TestCrashedSnapshot has what is left when the process is killed before a snapshot gets its name, and after.
func TestCrashedSnapshot(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "old")
	closeLog(t, l)
	old := file(t, dir, ".log")
	write(t, filepath.Join(dir, drafts.of(Position(len(old)-headSize))), []byte("half"))
	wantRecords(t, dir, "old")
	l, _ = open(t, dir)
	snapshot(t, l, "state")
	closeLog(t, l)
	write(t, filepath.Join(dir, logs.of(0)), old)
	l, c := open(t, dir)
	same(t, []string{"state"}, c.all())
	closeLog(t, l)
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("left are %q", got)
	}
}

// TestDue shows when a snapshot is due: after so many bytes, or twice the size of the last one.
func TestDue(t *testing.T) {
	config := (&contents{}).config(t.TempDir())
	config.SnapshotAfter = 100
	l := must.Get(Open(config))(t)
	defer closeLog(t, l)
	put(t, l, "short")
	if l.Due(l.Next()) || !l.Due(100) {
		t.Error("due after another number of bytes")
	}
	snapshot(t, l, string(make([]byte, 1000)))
	if at := l.Next(); l.Due(at+1000) || !l.Due(at+3000) {
		t.Error("the size of the snapshot does not count")
	}
}
