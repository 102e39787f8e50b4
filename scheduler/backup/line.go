package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/carillon-sched/carillon/scheduler"
)

// line is the JSON form of every line after the header.
type line struct {
	Collection string `json:"collection"`
	Secret     string `json:"secret"`
	Token      string `json:"token"`
	Source     string `json:"source"`
	Job        string `json:"job"`

	Data    json.RawMessage `json:"data"`
	Raw     []byte          `json:"raw"`
	Batons  json.RawMessage `json:"batons"`
	Records json.RawMessage `json:"records"`
	End     json.RawMessage `json:"end"`
}

type batonLine struct {
	Detached string          `json:"detached"`
	Running  bool            `json:"running"`
	Body     json.RawMessage `json:"body"`
}

// end is the content of the last line.
type end struct {
	Summary

	Sum string `json:"sha256"` // of all lines before it, including line ends, in hexadecimal
}

// appendLine appends the line of an entry, with its line end. JSON data is copied byte for byte.
func appendLine(b []byte, e *Entry) ([]byte, error) {
	b = append(b, '{')
	b = strconv.AppendQuote(b, string(e.Kind))
	b = append(b, ':')
	b = strconv.AppendQuote(b, e.Name) // names are plain ASCII
	if json.Valid(e.Data) && bytes.IndexByte(e.Data, '\n') < 0 && len(bytes.TrimSpace(e.Data)) == len(e.Data) {
		b = append(append(b, `,"data":`...), e.Data...)
	} else {
		raw, err := json.Marshal(e.Data)
		if err != nil {
			return nil, err
		}
		b = append(append(b, `,"raw":`...), raw...)
	}
	separator := `,"batons":[`
	for i := range e.Batons {
		b = appendBaton(append(b, separator...), &e.Batons[i])
		separator = ","
	}
	if len(e.Batons) > 0 {
		b = append(b, ']')
	}
	separator = `,"records":[`
	for _, r := range e.Records {
		data, err := r.Encode()
		if err != nil {
			return nil, err
		}
		b = append(append(b, separator...), data...)
		separator = ","
	}
	if len(e.Records) > 0 {
		b = append(b, ']')
	}
	return append(b, '}', '\n'), nil
}

func appendBaton(b []byte, baton *Baton) []byte {
	b = append(b, '{')
	if baton.Detached != "" {
		b = append(strconv.AppendQuote(append(b, `"detached":`...), baton.Detached), ',')
	}
	if baton.Running {
		b = append(b, `"running":true,`...)
	}
	return append(append(append(b, `"body":`...), baton.Encode()...), '}')
}

// readLine parses a line after the header: an entry, or the end of the file. text includes the line end.
func readLine(text []byte) (*Entry, *end, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return nil, nil, err
	}
	if d.InputOffset() != int64(len(text)-len("\n")) {
		return nil, nil, errors.New("something stands behind the object")
	}
	e, kinds := &Entry{}, 0
	for _, of := range []struct {
		kind Kind
		name string
	}{{Collection, l.Collection}, {Secret, l.Secret}, {Token, l.Token}, {Source, l.Source}, {Job, l.Job}} {
		if of.name != "" {
			e.Kind, e.Name = of.kind, of.name
			kinds++
		}
	}
	if l.End != nil && kinds == 0 && l.Data == nil && l.Raw == nil && l.Batons == nil && l.Records == nil {
		last, err := readEnd(l.End)
		return nil, last, err
	}
	if l.End != nil || kinds != 1 || (l.Data == nil) == (l.Raw == nil) {
		return nil, nil, errors.New("it is neither an entry nor the end")
	}
	if e.Data = l.Data; e.Data == nil {
		e.Data = l.Raw
	}
	if err := e.read(&l); err != nil {
		return nil, nil, err
	}
	if err := e.check(); err != nil {
		return nil, nil, err
	}
	return e, nil, nil
}

// read parses a job's batons and records.
func (e *Entry) read(l *line) error {
	err := each(l.Batons, maxBatons, func(data json.RawMessage) error {
		var b batonLine
		if err := strictly(data, &b); err != nil {
			return err
		}
		baton, err := scheduler.DecodeBaton(b.Body)
		e.Batons = append(e.Batons, Baton{baton, b.Detached, b.Running})
		return err
	})
	if err == nil {
		err = each(l.Records, maxRecords, func(data json.RawMessage) error {
			r, err := scheduler.DecodeRecord(data)
			if err == nil {
				r.Job = e.Key()
				e.Records = append(e.Records, r)
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("job %s: %w", e.Name, err)
	}
	return nil
}

// Limits per line. Without them, a line has room for millions of empty elements, each taking about 1,000 bytes
// once parsed.
const (
	maxBatons  = 100_000
	maxRecords = 100     // a job has one of each outcome
	maxElement = 1 << 20 // bytes; the largest NATS message
)

// each calls f with the elements of a JSON list. A nil list has none.
func each(list json.RawMessage, most int, f func(json.RawMessage) error) error {
	if list == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(list))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return errors.New("it has something else than a list")
	}
	for n := 1; d.More(); n++ {
		var element json.RawMessage
		err := d.Decode(&element)
		switch {
		case err != nil:
			return err
		case n > most || len(element) > maxElement:
			return fmt.Errorf("it has more than %d batons or records, or longer ones than %d bytes", most, maxElement)
		}
		if err := f(element); err != nil {
			return err
		}
	}
	return nil
}

// readEnd parses the content of the last line.
func readEnd(data json.RawMessage) (*end, error) {
	if len(data) > firstLine {
		return nil, fmt.Errorf("its end has %d bytes", len(data))
	}
	var last end
	return &last, strictly(data, &last)
}

// strictly decodes a JSON object and rejects unknown fields.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Writer writes a backup. [NewWriter] makes one.
type Writer struct {
	to      *zstd.Encoder
	sum     hash.Hash
	names   names
	line    []byte
	summary Summary
}

// window is the zstd window in bytes, which determines a reader's memory use.
const window = 1 << 20

// NewWriter starts a backup by writing its header.
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

// Write writes an entry unless the backup has one of its kind and name. It reports whether it wrote the entry.
func (w *Writer) Write(e *Entry) (bool, error) {
	if err := e.check(); err != nil {
		return false, err
	}
	if !w.names.add(e.Kind, e.Name) {
		return false, nil
	}
	return true, w.writeEntry(e)
}

// WriteNew writes an entry that the caller knows to be new. It ignores collisions of name hashes.
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

// omit records the number of omitted entries and batons.
func (w *Writer) omit(n int) { w.summary.Omitted = n }

// Close writes the last line. A file without it is not a valid backup.
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
