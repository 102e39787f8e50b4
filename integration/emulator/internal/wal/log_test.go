package wal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
	"github.com/google/go-cmp/cmp"
)

const testMagic = "carillon test 1\n"

// contents are what a log has given back.
type contents struct {
	parts, records []string
	positions      []Position
}

// all are the parts and then the records.
func (c *contents) all() []string { return slices.Concat(c.parts, c.records) }

func (c *contents) config(dir string) Config {
	return Config{
		Dir: dir, Magic: testMagic,
		Restore: func(part []byte) error {
			c.parts = append(c.parts, string(part))
			return nil
		},
		Replay: func(position Position, record []byte) error {
			c.records = append(c.records, string(record))
			c.positions = append(c.positions, position)
			return nil
		},
	}
}

func open(tb testing.TB, dir string) (*Log, *contents) {
	tb.Helper()
	c := &contents{}
	l := must.Get(Open(c.config(dir)))(tb)
	tb.Cleanup(func() { _ = l.Close() })
	return l, c
}

func put(tb testing.TB, l *Log, records ...string) {
	tb.Helper()
	var last Position
	for _, record := range records {
		last = l.Append([]byte(record))
	}
	must.Do(tb, l.Wait(last))
}

func closeLog(tb testing.TB, l *Log) {
	tb.Helper()
	must.Do(tb, l.Close())
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

// wantRecords opens a log and checks what is there.
func wantRecords(t *testing.T, dir string, want ...string) {
	t.Helper()
	l, c := open(t, dir)
	if diff := cmp.Diff(want, c.records); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	closeLog(t, l)
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
	return must.Get(os.ReadFile(path(tb, dir, suffix)))(tb)
}

func write(tb testing.TB, name string, content []byte) {
	tb.Helper()
	must.Do(tb, os.WriteFile(name, content, 0o600))
}

func TestReplay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
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
	if !slices.Equal(c.positions, []Position{first, second}) || l.Next() != second {
		t.Errorf("positions %v, %v", c.positions, l.Next())
	}
	l.Append([]byte("three"))
	closeLog(t, l)
	wantRecords(t, dir, "one", "two", "three")
}

// TestConfirmedIsInTheFile reads the file as another process would after this one was killed.
func TestConfirmedIsInTheFile(t *testing.T) {
	for _, disk := range []bool{false, true} {
		dir := t.TempDir()
		config := (&contents{}).config(dir)
		config.Sync = disk
		l := must.Get(Open(config))(t)
		put(t, l, "one", "two")
		killed := t.TempDir()
		write(t, filepath.Join(killed, filepath.Base(path(t, dir, ".log"))), file(t, dir, ".log"))
		wantRecords(t, killed, "one", "two")
		closeLog(t, l)
	}
}

func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	const writers, each = 8, 50
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for j := range each {
				record := fmt.Appendf(nil, "%d-%d", i, j)
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
	closeLog(t, l)
	_, c := open(t, dir)
	next := map[string]int{}
	for _, record := range c.records {
		writer, i, _ := strings.Cut(record, "-")
		if strconv.Itoa(next[writer]) != i {
			t.Fatalf("%s is out of order", record)
		}
		next[writer]++
	}
	if len(c.records) != writers*each {
		t.Errorf("got %d records", len(c.records))
	}
}

func TestClosed(t *testing.T) {
	l, _ := open(t, t.TempDir())
	closeLog(t, l)
	closeLog(t, l)
	<-l.Ended()
	if err := l.Wait(l.Append([]byte("late"))); err == nil {
		t.Error("a record after the end was confirmed")
	}
	if _, err := l.Snapshot(); err == nil {
		t.Error("a snapshot after the end")
	}
}

// TestAppendWhileClosing has a record come when the log is being closed and the ones before are not written yet.
func TestAppendWhileClosing(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	gate := make(chan struct{})
	l.Then(l.Next()+1, func(error) { <-gate }) // nothing is written meanwhile
	first := l.Append([]byte("one"))
	for !l.Written(first) {
		runtime.Gosched()
	}
	l.Append([]byte("two"))
	closed := make(chan error, 1)
	go func() { closed <- l.Close() }()
	for {
		l.mu.Lock()
		closing := l.closing
		l.mu.Unlock()
		if closing {
			break
		}
		runtime.Gosched()
	}
	late := l.Append([]byte("late"))
	close(gate)
	if err := l.Wait(late); err == nil {
		t.Error("a record that was not written is confirmed")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	wantRecords(t, dir, "one", "two")
}

// TestFailedWrite has a file that takes nothing any more: nothing is confirmed then.
func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir)
	put(t, l, "kept")
	l.file.Close()
	var first error
	for range 3 {
		position := l.Append([]byte("lost"))
		err := l.Wait(position)
		if err == nil || l.Written(position) || first != nil && !errors.Is(err, first) {
			t.Errorf("a record that was not written is confirmed, or with another error: %v", err)
		}
		first = err
	}
	<-l.Ended()
	if _, err := l.Snapshot(); err == nil {
		t.Error("a snapshot of what is not written")
	}
	if err := l.Close(); err == nil {
		t.Error("closed as if nothing had happened")
	}
	wantRecords(t, dir, "kept")
}

func BenchmarkAppend(b *testing.B) {
	l, _ := open(b, b.TempDir())
	record := make([]byte, 1024)
	b.ReportAllocs()
	b.SetBytes(int64(len(record)))
	var last Position
	for b.Loop() {
		last = l.Append(record)
		if last%(1<<24) < 1032 {
			must.Do(b, l.Wait(last))
		}
	}
	closeLog(b, l)
}

func BenchmarkWait(b *testing.B) {
	for _, disk := range []bool{false, true} {
		b.Run(fmt.Sprintf("sync=%v", disk), func(b *testing.B) {
			config := (&contents{}).config(b.TempDir())
			config.Sync = disk
			l := must.Get(Open(config))(b)
			defer closeLog(b, l)
			record := make([]byte, 500)
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := l.Wait(l.Append(record)); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
