package wal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// framed returns a file with records, and where each begins.
func framed(format Format, number int64, records ...string) (content []byte, begins []int) {
	content = format.head(number)
	head := len(content)
	for _, record := range records {
		begins = append(begins, len(content))
		content = format.framing.append(content, Position(len(content)-head), []byte(record))
	}
	return content, begins
}

// firstNumber is that of the first file of a log.
func firstNumber(format Format) int64 {
	if format.segmented {
		return 0
	}
	return 1
}

// place writes the first file of a log.
func place(t *testing.T, dir string, format Format, content []byte) string {
	t.Helper()
	name := filepath.Join(dir, format.logs.of(firstNumber(format)))
	write(t, name, content)
	return name
}

// TestTornTail cuts a file at every byte.
func TestTornTail(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		whole, begins := framed(format, firstNumber(format), "whole", "torn record")
		for length := range whole {
			dir := t.TempDir()
			place(t, dir, format, whole[:length])
			var want []string
			if length >= begins[1] {
				want = []string{"whole"}
			}
			l, c := open(t, dir, format)
			same(t, want, c.records)
			put(t, l, "next")
			closeLog(t, l)
			wantRecords(t, dir, format, append(want, "next")...)
		}
	})
}

// TestTornTailIsNoDamage cuts a file at every byte, and has zeros at its end: that is how a process or power ends, and nobody is told
// of damage.
func TestTornTailIsNoDamage(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		whole, _ := framed(format, firstNumber(format), "whole", "torn record")
		tails := [][]byte{append(bytes.Clone(whole), make([]byte, 9000)...)}
		for length := range whole {
			tails = append(tails, whole[:length])
		}
		for _, content := range tails {
			dir := t.TempDir()
			place(t, dir, format, content)
			config := (&contents{}).config(dir, format)
			config.Damaged = func(e *CorruptError) { t.Errorf("%d bytes of %d: %v", len(content), len(whole), e) }
			l, err := Open(config)
			if err != nil {
				t.Fatal(err)
			}
			if l.Salvaged() {
				t.Errorf("%d bytes of %d: something was passed over", len(content), len(whole))
			}
			closeLog(t, l)
		}
	})
}

// TestDamageBeforeMuch has a damaged record that is long, and looks like the heads of many long ones, before much else: the next one is
// found by the length of the damaged one, and not by trying all that could be records.
func TestDamageBeforeMuch(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		heads := strings.Repeat("\x00\x0f\xff\xff", 64<<10)
		whole, begins := framed(format, firstNumber(format), heads, strings.Repeat("y", 2<<20), "last")
		tried := &counting{framing: format.framing}
		format.framing = tried
		whole[begins[0]+100] ^= 1
		dir := t.TempDir()
		place(t, dir, format, whole)
		c := &contents{}
		config := c.config(dir, format)
		config.Damaged = func(*CorruptError) {}
		l, err := Open(config)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.records) != 2 || c.records[1] != "last" || tried.cuts > 10 {
			t.Errorf("%d records after %d tries", len(c.records), tried.cuts)
		}
		closeLog(t, l)
	})
}

// TestLongTornTail has a long record that was not finished, and that looks like the heads of many long ones. The search for
// an intact record in it is bounded.
func TestLongTornTail(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		record := strings.Repeat("\x00\x00\x7f\xff\xff\x7f\x00\x00", 128<<10)
		whole, _ := framed(format, firstNumber(format), "whole", record)
		tried := &counting{framing: format.framing}
		format.framing = tried
		dir := t.TempDir()
		place(t, dir, format, whole[:len(whole)-1])
		c := &contents{}
		config := c.config(dir, format)
		config.Damaged = func(e *CorruptError) { t.Error(e) }
		l, err := Open(config)
		if err != nil {
			t.Fatal(err)
		}
		closeLog(t, l)
		same(t, []string{"whole"}, c.records)
		if tried.bytes > searched {
			t.Errorf("%d MiB were read for checksums", tried.bytes>>20)
		}
	})
}

// counting counts attempts to cut a record off, and the bytes that their checksums read.
type counting struct {
	framing

	cuts, bytes int
}

func (c *counting) cut(b []byte, at Position) (record, rest []byte, ok bool) {
	c.cuts++
	if size, ok := c.believed(b); ok && size <= len(b) {
		c.bytes += size
	}
	return c.framing.cut(b, at)
}

// TestZeroTail has what some file systems leave after losing power.
func TestZeroTail(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		dir := t.TempDir()
		whole, _ := framed(format, firstNumber(format), "whole")
		place(t, dir, format, append(whole, make([]byte, 9000)...))
		wantRecords(t, dir, format, "whole")
		place(t, dir, format, make([]byte, len(format.head(1))))
		wantRecords(t, dir, format)
	})
}

// TestDamage flips every byte before the last record in turn, and more.
func TestDamage(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		whole, begins := framed(format, firstNumber(format), "first", "second")
		for i := range begins[1] {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0x55
			offset := begins[0]
			if i < offset {
				offset = 0 // the head of the file
			}
			wantCorrupt(t, format, damaged, offset)
		}
		wantCorrupt(t, format, []byte("something else entirely, and nothing of ours"), 0)
	})
	whole, begins := framed(single, 1, "first", "second")
	wantCorrupt(t, single, append(append(whole[:begins[1]:begins[1]], make([]byte, 9000)...), 1), begins[1])
	holed := bytes.Clone(whole)
	holed[len(holed)-1] ^= 1
	dir := t.TempDir()
	place(t, dir, single, holed)
	wantRecords(t, dir, single, "first") // the last record has a hole
}

// wantCorrupt opens a damaged file: the error says where, and the file stays as it is.
func wantCorrupt(t *testing.T, format Format, content []byte, offset int) {
	t.Helper()
	dir := t.TempDir()
	name := place(t, dir, format, content)
	_, err := Open((&contents{}).config(dir, format))
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
	inner, _ := framed(segmented, 0, "inner")
	whole, _ := framed(segmented, 0, "outer"+string(inner))
	dir := t.TempDir()
	place(t, dir, segmented, whole[:len(whole)-1])
	wantRecords(t, dir, segmented)
}

func TestMissingLog(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, segmented)
	put(t, l, "one")
	snapshot(t, l)
	closeLog(t, l)
	if err := os.Remove(path(t, dir, ".snapshot")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open((&contents{}).config(dir, segmented)); err == nil {
		t.Error("no error")
	}
}

func TestOneOwner(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		dir := t.TempDir()
		l, _ := open(t, dir, format)
		if _, err := Open((&contents{}).config(dir, format)); !errors.Is(err, ErrLocked) {
			t.Errorf("a second owner: %v", err)
		}
		put(t, l, "one")
		closeLog(t, l)
		config, refusal := (&contents{}).config(dir, format), errors.New("no")
		config.Replay = func(Position, []byte) error { return refusal }
		if _, err := Open(config); !errors.Is(err, refusal) {
			t.Errorf("got %v", err)
		}
		wantRecords(t, dir, format, "one") // the lock is free again
	})
}

// TestFileNames has names that are like those of a log.
func TestFileNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"queues-000001.log", "queues-1234567.log", "queues-1.log", "queues-0000002.log", "queues-00000x.log",
		"queues-000003.new", "000004.log", "queues-.log", "0000000000000010.log", "10.log", "0000000000000001.snapshot", "lock",
	} {
		write(t, filepath.Join(dir, name), nil)
	}
	for _, test := range []struct {
		name fileName
		want []int64
	}{
		{single.logs, []int64{1, 1234567}},
		{single.drafts, []int64{3}},
		{segmented.logs, []int64{16}},
		{segmented.snapshots, []int64{1}},
	} {
		if got, err := test.name.list(dir); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %v, %v", test.name, got, err)
		}
	}
}

// FuzzOpen opens a log with anything in its file: it comes up with a prefix or an error, and comes up the same again.
// What it takes is what was framed.
func FuzzOpen(f *testing.F) {
	for _, format := range []Format{segmented, single} {
		whole, begins := framed(format, firstNumber(format), "one", "two")
		f.Add(format.segmented, whole)
		f.Add(format.segmented, whole[:begins[0]])
		f.Add(format.segmented, append(whole[:begins[0]:begins[0]], make([]byte, 100)...))
	}
	f.Fuzz(func(t *testing.T, isSegmented bool, content []byte) {
		format := single
		if isSegmented {
			format = segmented
		}
		dir := t.TempDir()
		place(t, dir, format, content)
		first := &contents{}
		l, err := Open(first.config(dir, format))
		if err != nil {
			return
		}
		closeLog(t, l)
		if whole, _ := framed(format, firstNumber(format), first.records...); !bytes.Equal(file(t, dir, ".log"), whole) {
			t.Errorf("%q was read from %q", first.records, content)
		}
		wantRecords(t, dir, format, first.records...)
	})
}

// TestDamageIsPassedOver flips every byte of a log in turn: it opens, tells once what is wrong, gives back every other record,
// keeps the file as it was, and after a snapshot nothing is wrong any more.
func TestDamageIsPassedOver(t *testing.T) {
	eachFormat(t, func(t *testing.T, format Format) {
		records := []string{"first", "second", "third", "fourth"}
		whole, begins := framed(format, firstNumber(format), records...)
		version := len(format.magic) - 2
		for i := range whole {
			damaged := bytes.Clone(whole)
			damaged[i] ^= 0x55
			dir := t.TempDir()
			place(t, dir, format, damaged)
			c, told := &contents{}, []*CorruptError{}
			config := c.config(dir, format)
			config.Damaged = func(e *CorruptError) { told = append(told, e) }
			l, err := Open(config)
			if i >= version && i < len(format.magic) { // of another version
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
			config = c.config(dir, format)
			config.Damaged = func(e *CorruptError) { t.Errorf("byte %d: after the snapshot: %v", i, e) }
			if l, err = Open(config); err != nil {
				t.Fatal(err)
			}
			same(t, append(want, "next"), c.all())
			closeLog(t, l)
		}
	})
}
