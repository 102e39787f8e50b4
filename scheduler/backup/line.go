package backup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/carillon-sched/carillon/scheduler"
)

// line is a line of a file but the first, as it is read.
type line struct {
	Collection string `json:"collection"`
	Secret     string `json:"secret"`
	Token      string `json:"token"`
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

// end is the last line.
type end struct {
	Summary

	Sum string `json:"sha256"` // of all lines before it, with their ends, in hexadecimal
}

// appendLine appends the line of an entry, and its end. JSON within it stands there byte for byte.
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

// readLine reads a line but the first, with its end: an entry, or the end of the file.
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
	}{{Collection, l.Collection}, {Secret, l.Secret}, {Token, l.Token}, {Job, l.Job}} {
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

// read reads what of a job is beside its definition.
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

// Most of what is beside a definition. A line has room for millions of things that say nothing, each of which takes a
// thousand bytes once it is read.
const (
	maxBatons  = 100_000
	maxRecords = 100     // there is one of each outcome
	maxElement = 1 << 20 // bytes; what NATS takes as one message
)

// each calls f with the elements of a list, one after the other; nothing is no list.
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

// readEnd reads the last line's only member.
func readEnd(data json.RawMessage) (*end, error) {
	if len(data) > firstLine {
		return nil, fmt.Errorf("its end has %d bytes", len(data))
	}
	var last end
	return &last, strictly(data, &last)
}

// strictly reads an object with no other members than there are.
func strictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}
