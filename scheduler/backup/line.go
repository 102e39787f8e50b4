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

	Data    json.RawMessage   `json:"data"`
	Raw     []byte            `json:"raw"`
	Batons  []batonLine       `json:"batons"`
	Records []json.RawMessage `json:"records"`
	End     *end              `json:"end"`
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
		return nil, l.End, nil
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
	for _, b := range l.Batons {
		baton, err := scheduler.DecodeBaton(b.Body)
		if err != nil {
			return fmt.Errorf("job %s: %w", e.Name, err)
		}
		e.Batons = append(e.Batons, Baton{baton, b.Detached, b.Running})
	}
	for _, data := range l.Records {
		r, err := scheduler.DecodeRecord(data)
		if err != nil {
			return fmt.Errorf("job %s: %w", e.Name, err)
		}
		r.Job = e.Key()
		e.Records = append(e.Records, r)
	}
	return nil
}
