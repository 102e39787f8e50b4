package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Writer writes a backup. It is not safe for concurrent use.
type Writer struct {
	to      *zstd.Encoder
	sum     hash.Hash
	names   names
	line    []byte
	summary Summary
}

// window is how far back the compression looks, and so about how much memory a reader needs for it.
const window = 1 << 20

// NewWriter begins a backup.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	encoder, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	w := &Writer{to: encoder, sum: sha256.New(), names: newNames()}
	h.Format = Format
	first, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if err := w.write(append(first, '\n')); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *Writer) write(line []byte) error {
	_, _ = w.sum.Write(line) // never fails
	_, err := w.to.Write(line)
	return err
}

// Write writes an entry, unless one of its kind and name is there already, and reports whether it has.
func (w *Writer) Write(e *Entry) (bool, error) {
	if err := e.check(); err != nil {
		return false, err
	}
	if !w.names.add(e.Kind, e.Name) {
		return false, nil
	}
	return true, w.writeEntry(e)
}

// WriteNew writes an entry of which the caller knows that none of its name is there, whatever the names' hashes say.
func (w *Writer) WriteNew(e *Entry) error {
	if err := e.check(); err != nil {
		return err
	}
	_ = w.names.add(e.Kind, e.Name)
	return w.writeEntry(e)
}

func (w *Writer) writeEntry(e *Entry) (err error) {
	if w.line, err = appendLine(w.line[:0], e); err != nil {
		return err
	}
	if len(w.line) > maxLine {
		return fmt.Errorf("%s %s: it would take %d bytes in the backup, more than %d", e.Kind, e.Name, len(w.line), maxLine)
	}
	if len(e.Batons) > maxBatons || len(e.Records) > maxRecords {
		return fmt.Errorf("%s %s: it has %d batons and %d records, more than a backup takes", e.Kind, e.Name, len(e.Batons), len(e.Records))
	}
	w.summary.add(e)
	return w.write(w.line)
}

// omit notes in the end of the backup that something is missing.
func (w *Writer) omit(n int) { w.summary.Omitted = n }

// Close writes the end. A backup without it is none.
func (w *Writer) Close() (Summary, error) {
	last, err := json.Marshal(map[string]any{"end": end{w.summary, hex.EncodeToString(w.sum.Sum(nil))}})
	if err != nil {
		return w.summary, err
	}
	if _, err := w.to.Write(append(last, '\n')); err != nil {
		return w.summary, err
	}
	return w.summary, w.to.Close()
}
