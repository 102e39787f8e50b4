package wal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A CorruptError reports the position of damage in a file.
type CorruptError struct {
	File    string
	Offset  int64 // in bytes, from 0
	Problem string
	Length  int64  // skipped bytes; 0: unknown
	Kept    string // the file as it was; "": it has not been changed
}

func (e *CorruptError) Error() string {
	text := fmt.Sprintf("%s is corrupt at offset %d: %s", e.File, e.Offset, e.Problem)
	if e.Length > 0 {
		text += fmt.Sprintf(", %d bytes", e.Length)
	}
	if e.Kept != "" {
		text += "; the file as it was: " + e.Kept
	}
	return text
}

// Open opens a log, passes on its content, and starts the writer goroutine, which ends with [Log.Close].
func Open(config Config) (*Log, error) {
	if err := os.MkdirAll(config.Dir, 0o750); err != nil {
		return nil, err
	}
	config.SnapshotAfter = cmp.Or(max(config.SnapshotAfter, 0), 64<<20)
	lock, err := os.OpenFile(filepath.Join(config.Dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", config.Dir, err), lock.Close())
	}
	l := &Log{config: config, lock: lock, written: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	if err := l.load(); err != nil {
		if l.file != nil {
			l.file.Close()
		}
		lock.Close()
		return nil, err
	}
	go l.write()
	return l, nil
}

// load reads the newest snapshot and the records after it, and opens the last file for writing.
func (l *Log) load() error {
	for _, name := range []fileName{logs, snapshots, drafts} {
		if _, err := name.list(l.config.Dir); err != nil {
			return err // before anything is changed
		}
	}
	if err := l.restore(); err != nil {
		return err
	}
	if err := l.removeDrafts(); err != nil {
		return err
	}
	begins, err := logs.list(l.config.Dir)
	if err != nil {
		return err
	}
	begins = slices.DeleteFunc(begins, func(begin Position) bool { return begin < l.base })
	for i, begin := range begins {
		if begin != l.next {
			missing := fmt.Errorf("the log from position %d on is missing: the next is %s", l.next, logs.of(begin))
			if begin < l.next || !l.pass(logs.of(l.next), 0, int64(begin-l.next), missing.Error()) {
				return missing
			}
			l.next = begin
		}
		if err := l.replay(i == len(begins)-1); err != nil {
			return err
		}
	}
	l.tellRest()
	l.done = l.next
	if l.file == nil {
		if err := l.create(l.next); err != nil {
			return err
		}
	}
	l.due.Store(int64(l.base) + l.config.SnapshotAfter)
	if l.salvaged {
		l.due.Store(int64(l.next))
	}
	l.sweep()
	return nil
}

// restore reads the newest snapshot, if any.
func (l *Log) restore() error {
	all, err := snapshots.list(l.config.Dir)
	if err != nil || len(all) == 0 {
		return err
	}
	l.base = all[len(all)-1]
	l.next = l.base
	name := filepath.Join(l.config.Dir, snapshots.of(l.base))
	rest, err := l.read(name, l.base)
	if err != nil {
		return err
	}
	offset, position := l.headSize(), Position(0)
	for {
		record, after, ok := cutRecord(rest, position)
		if !ok {
			const problem = "a part of the snapshot is damaged"
			skipped, _ := find(rest, position)
			if !l.pass(name, offset+int64(position), int64(skipped), problem) {
				return &CorruptError{File: name, Offset: offset + int64(position), Problem: problem}
			}
			if skipped == len(rest) {
				return nil
			}
			rest, position = rest[skipped:], position+Position(skipped)
			continue
		}
		at := offset + int64(position)
		position += Position(len(rest) - len(after))
		rest = after
		if record[0] == partEnd {
			return nil
		}
		if err := l.config.Restore(record[1:]); err != nil && (!l.salvaged || !l.pass(name, at, int64(len(record)), err.Error())) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

// read returns the content of a file after its head.
func (l *Log) read(name string, begin Position) ([]byte, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	head := l.head(begin)
	rest, ok := bytes.CutPrefix(content, head)
	if ok {
		return rest, nil
	}
	const problem = "this is not a log of this kind"
	if l.headDamaged(content, begin) && l.pass(name, 0, int64(len(head)), "its head is damaged") {
		return content[len(head):], nil
	}
	return content, &CorruptError{File: name, Problem: problem}
}

// pass reports damage to skip; false if skipping is not allowed.
func (l *Log) pass(name string, offset, length int64, problem string) bool {
	if l.config.Damaged == nil {
		return false
	}
	if l.kept == "" {
		l.kept = filepath.Join(l.config.Dir, "damaged-"+time.Now().UTC().Format("20060102T150405.000Z"))
	}
	kept, err := l.keep(name)
	if err != nil {
		return false // rather refused than lost
	}
	l.salvaged = true
	l.passed++
	if l.passed <= mostTold {
		l.config.Damaged(&CorruptError{File: name, Offset: offset, Problem: problem, Length: length, Kept: kept})
	}
	return true
}

// mostTold limits the damage that is reported individually.
const mostTold = 100

// tellRest reports the amount of further damage.
func (l *Log) tellRest() {
	if l.passed > mostTold {
		l.config.Damaged(&CorruptError{File: l.config.Dir, Problem: fmt.Sprintf("and %d more", l.passed-mostTold), Kept: l.kept})
	}
}

// keep copies a file, once, to the folder of damaged files. It returns "" for a missing file.
func (l *Log) keep(name string) (string, error) {
	kept := filepath.Join(l.kept, filepath.Base(name))
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = os.MkdirAll(l.kept, 0o750)
	}
	if err == nil {
		err = os.WriteFile(kept, content, 0o600)
	}
	return kept, err
}

// searched is the maximum number of bytes that find reads for checksums. Without a limit, the search of a long record
// that looks
// like the heads of many others takes time by the square of its length.
const searched = 1 << 30

// find returns how many bytes of b are before the next intact record, after the first byte; len(b) without one, or if the
// search exceeds its limit. It trusts the length of the damaged record if an intact one follows.
func find(b []byte, at Position) (skipped int, exhausted bool) {
	if i, ok := believed(b); ok && i < len(b) {
		if _, _, ok := cutRecord(b[i:], at+Position(i)); ok {
			return i, false
		}
	}
	for i, read := 1, 0; i < len(b); i++ {
		size, ok := believed(b[i:])
		if !ok || size > len(b)-i {
			continue
		}
		if read += size; read > searched {
			return len(b), true
		}
		if _, _, ok := cutRecord(b[i:], at+Position(i)); ok {
			return i, false
		}
	}
	return len(b), false
}

// Salvaged reports whether something was passed over when the log was opened ([Config.Damaged]).
func (l *Log) Salvaged() bool { return l.salvaged }

// replay reads the file of records from the next position on. The last one may end in an unfinished record, which is cut
// off, and is left open for writing.
func (l *Log) replay(last bool) error {
	begin := l.next
	name := filepath.Join(l.config.Dir, logs.of(begin))
	rest, err := l.read(name, begin)
	if _, ok := errors.AsType[*CorruptError](err); ok && last && l.headTorn(rest, begin) {
		return os.Remove(name) // the process ended while it was made
	}
	if err != nil {
		return err
	}
	offset := func() int64 { return l.headSize() + int64(l.next-begin) }
	exhausted := false
	for len(rest) > 0 {
		record, after, ok := cutRecord(rest, l.next)
		if !ok {
			var skipped int
			skipped, exhausted = find(rest, l.next)
			if last && skipped == len(rest) {
				break
			}
			problem := &CorruptError{File: name, Offset: offset(), Problem: "a record is damaged"}
			if !l.pass(name, problem.Offset, int64(skipped), problem.Problem) {
				return problem
			}
			rest, l.next = rest[skipped:], l.next+Position(skipped)
			continue
		}
		at := offset()
		l.next += Position(len(rest) - len(after))
		rest = after
		if err := l.config.Replay(l.next, record); err != nil && (!l.salvaged || !l.pass(name, at, int64(len(record)), err.Error())) {
			return fmt.Errorf("%s: record before byte %d: %w", name, offset(), err)
		}
	}
	if err := l.cutOff(name, rest, offset(), exhausted); err != nil || !last {
		return err
	}
	l.file, err = os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(offset()); err != nil {
		return err
	}
	_, err = l.file.Seek(offset(), io.SeekStart)
	return err
}

// cutOff decides about the end of the last file, in which no intact record was found. A record that is longer than the rest of
// the file was never finished or confirmed, so its end needs no report. Other damage is reported, or is an error if the
// search did not read all of it.
func (l *Log) cutOff(name string, rest []byte, offset int64, exhausted bool) error {
	switch {
	case len(rest) == 0, unfinished(rest, l.next):
		return nil
	case l.pass(name, offset, int64(len(rest)), "the end is damaged, and was cut off"), !exhausted:
		return nil
	default:
		return &CorruptError{File: name, Offset: offset, Problem: "a record is damaged"}
	}
}

// create makes an empty file for the records from a position on.
func (l *Log) create(begin Position) error {
	file, err := os.OpenFile(filepath.Join(l.config.Dir, logs.of(begin)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(l.head(begin)); err != nil {
		return errors.Join(err, file.Close())
	}
	l.file = file
	return syncDir(l.config.Dir)
}

// removeDrafts removes snapshots that were never finished.
func (l *Log) removeDrafts() error {
	unfinished, err := drafts.list(l.config.Dir)
	for _, begin := range unfinished {
		err = errors.Join(err, os.Remove(filepath.Join(l.config.Dir, drafts.of(begin))))
	}
	return err
}

// sweep removes the files that the last snapshot replaces.
func (l *Log) sweep() {
	logs.remove(l.config.Dir, l.base)
	snapshots.remove(l.config.Dir, l.base)
}
