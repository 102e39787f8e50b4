package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"

	"github.com/klauspost/compress/zstd"
)

// FormatError reports why a file is not a backup, or cannot be restored.
type FormatError struct {
	Line   int // from 1; 0: unknown
	Reason string
	Cause  error // may be nil
}

// Error returns the line, if known, and the reason.
func (e *FormatError) Error() string {
	text := e.Reason
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.Line > 0 {
		return fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Cause }

// Limits on input, which may be malicious.
const (
	maxWindow = 8 << 20  // of zstd
	maxLine   = 16 << 20 // fits a definition and the batons of about 10,000 detached runs
	firstLine = 64 << 10
)

// Reader reads a backup. Its memory use is bounded: one line, and a few bytes for each name.
type Reader struct {
	header  Header
	zstd    *zstd.Decoder
	lines   *bufio.Scanner
	line    int
	sum     hash.Hash
	names   names
	summary Summary
	ended   bool
}

// NewReader reads the header of a backup. The error may be a [*FormatError]. Call Close when done.
func NewReader(from io.Reader) (*Reader, error) {
	decoder, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	r := &Reader{zstd: decoder, lines: bufio.NewScanner(decoder), sum: sha256.New(), names: newNames()}
	r.lines.Buffer(make([]byte, 0, firstLine), maxLine)
	r.lines.Split(wholeLines)
	text, err := r.next()
	if err == nil {
		err = r.readHeader(text)
	}
	if errors.Is(err, io.EOF) {
		err = &FormatError{Reason: "it is empty"}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close releases the reader's resources. It does not close the underlying reader.
func (r *Reader) Close() { r.zstd.Close() }

// Header returns the header of the backup.
func (r *Reader) Header() Header { return r.header }

// Summary returns the totals of the entries read so far, and of the whole backup after [Reader.Next] has returned
// io.EOF.
func (r *Reader) Summary() Summary { return r.summary }

func (r *Reader) readHeader(text []byte) error {
	var version struct {
		Format int `json:"carillonBackup"`
	}
	if err := json.Unmarshal(text, &version); err != nil || version.Format == 0 {
		return &FormatError{Reason: "it is no backup of carillon", Cause: err}
	}
	if version.Format != Format {
		return &FormatError{Reason: fmt.Sprintf("it has the form %d, and this version of carillon knows form %d", version.Format, Format)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r.header); err != nil {
		return r.wrong("the header cannot be read", err)
	}
	_, _ = r.sum.Write(text)
	return nil
}

// Next returns the next entry. It returns io.EOF after the last entry if the last line proves the file complete. Other
// errors are a [*FormatError] or read errors.
func (r *Reader) Next() (*Entry, error) {
	if r.ended {
		return nil, io.EOF
	}
	text, err := r.next()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{Reason: "it was cut off: its end is missing"}
	}
	if err != nil {
		return nil, err
	}
	e, last, err := readLine(text)
	if err != nil {
		return nil, r.wrong("it cannot be read", err)
	}
	if last != nil {
		return nil, r.finish(last)
	}
	_, _ = r.sum.Write(text)
	if !r.names.add(e.Kind, e.Name) {
		return nil, r.wrong(fmt.Sprintf("%s %s is there twice", e.Kind, e.Name), nil)
	}
	r.summary.add(e)
	return e, nil
}

// finish compares the last line with the entries and makes sure that no data follows. It returns io.EOF on success.
func (r *Reader) finish(last *end) error {
	if last.Sum != hex.EncodeToString(r.sum.Sum(nil)) {
		return r.wrong("the checksum at its end is another one than that of what stands before: it was changed", nil)
	}
	r.summary.Omitted = last.Omitted
	if !reflect.DeepEqual(last.Summary, r.summary) {
		return r.wrong("it counts something else than what stands before", nil)
	}
	if _, err := r.next(); !errors.Is(err, io.EOF) {
		return r.wrong("something stands behind the end", err)
	}
	r.ended = true
	return io.EOF
}

// next returns the next line, with its line end.
func (r *Reader) next() ([]byte, error) {
	if r.lines.Scan() {
		r.line++
		return r.lines.Bytes(), nil
	}
	err := r.lines.Err()
	switch {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, &FormatError{Reason: "it was cut off: its end is missing"}
	case errors.Is(err, zstd.ErrMagicMismatch) && r.line == 0:
		return nil, &FormatError{Reason: "it is no backup of carillon: it is not compressed with zstd"}
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &FormatError{Line: r.line + 1, Reason: fmt.Sprintf("it is longer than %d bytes", maxLine)}
	}
	return nil, &FormatError{Line: r.line + 1, Reason: "it is damaged", Cause: err}
}

func (r *Reader) wrong(reason string, cause error) error {
	return &FormatError{Line: r.line, Reason: reason, Cause: cause}
}

// errCut reports a line without its line end.
var errCut = fmt.Errorf("a line has no end: %w", io.ErrUnexpectedEOF)

// wholeLines is a [bufio.SplitFunc] that keeps the line ends.
func wholeLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return 0, nil, errCut
	}
	return 0, nil, nil
}

// Verify reads a whole backup. It returns nil if the backup is valid, or the error of [Reader.Next].
func Verify(from io.Reader) (Header, Summary, error) {
	r, err := NewReader(from)
	if err != nil {
		return Header{}, Summary{}, err
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return r.header, r.summary, err
		}
	}
}
