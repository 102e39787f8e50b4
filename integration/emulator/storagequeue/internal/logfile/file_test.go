package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// open opens the log of a folder and returns it with what was in it.
func open(t *testing.T, dir string) (*File, []string) {
	t.Helper()
	var records []string
	f, err := Open(Config{Dir: dir}, func(b []byte) error {
		records = append(records, string(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f, records
}

func put(t *testing.T, f *File, records ...string) {
	t.Helper()
	var last Position
	for _, record := range records {
		last = f.Append([]byte(record))
	}
	if err := f.Commit(last); err != nil {
		t.Fatal(err)
	}
}

func closeLog(t *testing.T, f *File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantRecords reopens a folder and checks what is there.
func wantRecords(t *testing.T, dir string, want ...string) {
	t.Helper()
	f, got := open(t, dir)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	closeLog(t, f)
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	f, records := open(t, dir)
	if len(records) != 0 {
		t.Errorf("a new log has %q", records)
	}
	put(t, f, "one", "", "three")
	closeLog(t, f)
	closeLog(t, f)
	if err := f.Commit(f.Append([]byte("late"))); err == nil {
		t.Error("a closed log takes records")
	}
	f, _ = open(t, dir)
	put(t, f, "four")
	closeLog(t, f)
	wantRecords(t, dir, "one", "", "three", "four")
}

// TestCommitIsEnough reads the file of a log that was never closed, as after kill -9.
func TestCommitIsEnough(t *testing.T) {
	for _, sync := range []bool{false, true} {
		dir := t.TempDir()
		f, err := Open(Config{Dir: dir, Sync: sync}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() }) // the point is that it is open until then
		put(t, f, "one", "two")
		f.Append([]byte("not committed"))
		b, err := os.ReadFile(f.path(1))
		if err != nil {
			t.Fatal(err)
		}
		copied := t.TempDir()
		if err := os.WriteFile(filepath.Join(copied, "queues-000001.log"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		wantRecords(t, copied, "one", "two")
	}
}

func TestTornTail(t *testing.T) {
	whole := frame(frame([]byte(magic), []byte("one")), []byte("two"))
	first := len(frame([]byte(magic), []byte("one")))
	for length := range whole {
		dir := t.TempDir()
		path := filepath.Join(dir, "queues-000001.log")
		if err := os.WriteFile(path, whole[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		var want []string
		if length >= first {
			want = []string{"one"}
		}
		f, got := open(t, dir)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d bytes (-want +got):\n%s", length, diff)
		}
		put(t, f, "next")
		closeLog(t, f)
		wantRecords(t, dir, append(want, "next")...)
	}
}

func TestDamage(t *testing.T) {
	one := frame([]byte(magic), []byte("one"))
	whole := frame(one, []byte("two"))
	flipped := func(at int) []byte {
		b := append([]byte(nil), whole...)
		b[at] ^= 1
		return b
	}
	tests := []struct {
		name    string
		content []byte
		want    []string // of a tail that is dropped
		problem string   // of damage
	}{
		{"another file", []byte("something else entirely"), nil, "not a log"},
		{"length of the first", flipped(len(magic)), nil, "damaged"},
		{"sum of the first", flipped(len(magic) + 5), nil, "damaged"},
		{"content of the first", flipped(len(magic) + headSize), nil, "damaged"},
		{"content of the last", flipped(len(whole) - 1), []string{"one"}, ""},
		{"zeros behind", append(append([]byte(nil), one...), make([]byte, 9000)...), []string{"one"}, ""},
		{"zeros and more behind", append(append(append([]byte(nil), one...), make([]byte, 9000)...), 1), nil, "damaged"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		path := filepath.Join(dir, "queues-000001.log")
		if err := os.WriteFile(path, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if test.problem == "" {
			wantRecords(t, dir, test.want...)
			continue
		}
		_, err := Open(Config{Dir: dir}, func([]byte) error { return nil })
		if err == nil || !strings.Contains(err.Error(), test.problem) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", test.name, err)
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, test.content) {
			t.Errorf("%s: the file was changed: %v", test.name, err)
		}
	}
}

func TestReplayError(t *testing.T) {
	dir := t.TempDir()
	f, _ := open(t, dir)
	put(t, f, "one")
	closeLog(t, f)
	refusal := errors.New("no")
	if _, err := Open(Config{Dir: dir}, func([]byte) error { return refusal }); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	wantRecords(t, dir, "one") // and the lock is free again
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if _, err := Open(Config{Dir: dir}, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
}

// TestBrokenDisk has a file that takes nothing any more.
func TestBrokenDisk(t *testing.T) {
	f, _ := open(t, t.TempDir())
	put(t, f, "one")
	f.file.Close()
	first := f.Commit(f.Append([]byte("two")))
	second := f.Commit(f.Append([]byte("three")))
	if first == nil || !errors.Is(second, first) {
		t.Errorf("got %v, then %v", first, second)
	}
	if f.Rewrite() != nil {
		t.Error("a broken log is rewritten")
	}
}

func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	f, _ := open(t, dir)
	const writers, each = 8, 50
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := range each {
				if err := f.Commit(f.Append(fmt.Appendf(nil, "%d-%d", writer, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	closeLog(t, f)
	_, got := open(t, dir)
	next := map[string]int{}
	for _, record := range got {
		writer, i, _ := strings.Cut(record, "-")
		if strconv.Itoa(next[writer]) != i {
			t.Fatalf("%s is out of order", record)
		}
		next[writer]++
	}
	if len(got) != writers*each {
		t.Errorf("got %d records", len(got))
	}
}

// FuzzScan reads files of any content. What it takes is what was framed.
func FuzzScan(f *testing.F) {
	f.Add([]byte(magic))
	f.Add(frame(frame([]byte(magic), []byte("one")), []byte("two")))
	f.Add(append([]byte(magic), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		again := []byte(magic)
		whole, err := scan(strings.NewReader(string(b)), int64(len(b)), func(record []byte) error {
			again = frame(again, record)
			return nil
		})
		if err == nil && whole > 0 && !bytes.Equal(b[:whole], again) {
			t.Errorf("%q was read from %q", again, b)
		}
	})
}

func BenchmarkCommit(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", sync), func(b *testing.B) {
			f, err := Open(Config{Dir: b.TempDir(), Sync: sync}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			record := make([]byte, 500)
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := f.Commit(f.Append(record)); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
