package plainjson

import (
	"fmt"
	"strconv"
	"time"
)

// Writer writes one object. Names of members are not escaped.
type Writer struct {
	text []byte
	err  error
}

// NewWriter begins an object. size is about how many bytes it will take: with enough of them, there is one allocation.
func NewWriter(size int) Writer { return Writer{text: append(make([]byte, 0, size), '{')} }

// Bytes ends the object and returns it. The error is that of a time whose year is not in 0-9999.
func (w *Writer) Bytes() ([]byte, error) { return append(w.text, '}'), w.err }

// name begins a member.
func (w *Writer) name(name string) {
	if w.text[len(w.text)-1] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, name...)
	w.text = append(w.text, '"', ':')
}

// Begin begins a member that is an object.
func (w *Writer) Begin(name string) {
	w.name(name)
	w.text = append(w.text, '{')
}

// End ends the object that was begun last.
func (w *Writer) End() { w.text = append(w.text, '}') }

// Mark is where a member may begin that is left out when it turns out to be empty.
type Mark int

// OptBegin begins a member that is an object, and that OptEnd leaves out when it has no members.
func (w *Writer) OptBegin(name string) Mark {
	at := Mark(len(w.text))
	w.Begin(name)
	return at
}

// OptEnd ends the object that OptBegin began at a place.
func (w *Writer) OptEnd(at Mark) {
	if w.text[len(w.text)-1] == '{' {
		w.text = w.text[:at]
		return
	}
	w.End()
}

// Int writes a number.
func (w *Writer) Int(name string, n int) {
	w.name(name)
	w.text = strconv.AppendInt(w.text, int64(n), 10)
}

// OptInt writes a number that is not 0.
func (w *Writer) OptInt(name string, n int) {
	if n != 0 {
		w.Int(name, n)
	}
}

// Uint writes a number.
func (w *Writer) Uint(name string, n uint64) {
	w.name(name)
	w.text = strconv.AppendUint(w.text, n, 10)
}

// OptUint writes a number that is not 0.
func (w *Writer) OptUint(name string, n uint64) {
	if n != 0 {
		w.Uint(name, n)
	}
}

// OptInts writes an array of numbers that is not empty.
func (w *Writer) OptInts(name string, numbers []int64) {
	if len(numbers) == 0 {
		return
	}
	w.name(name)
	separator := byte('[')
	for _, n := range numbers {
		w.text = strconv.AppendInt(append(w.text, separator), n, 10)
		separator = ','
	}
	w.text = append(w.text, ']')
}

// Number writes a number that is JSON already.
func (w *Writer) Number(name string, text []byte) {
	w.name(name)
	w.text = append(w.text, text...)
}

// OptRaw writes a value that is JSON already, if there is one.
func (w *Writer) OptRaw(name string, text []byte) {
	if len(text) > 0 {
		w.Number(name, text)
	}
}

// OptTrue writes a truth.
func (w *Writer) OptTrue(name string, truth bool) {
	if truth {
		w.name(name)
		w.text = append(w.text, "true"...)
	}
}

// Time writes an instant, to the nanosecond.
func (w *Writer) Time(name string, t time.Time) {
	w.name(name)
	w.text = append(w.text, '"')
	text, err := t.AppendText(w.text)
	if err != nil {
		w.err = fmt.Errorf("%s: %w", name, err)
		return
	}
	w.text = text
	w.text = append(w.text, '"')
}

// OptTime writes an instant that is not the zero one.
func (w *Writer) OptTime(name string, t time.Time) {
	if !t.IsZero() {
		w.Time(name, t)
	}
}

// Text writes a string.
func (w *Writer) Text(name, s string) {
	w.name(name)
	w.text = appendText(w.text, s)
}

// OptText writes a string that is not empty.
func (w *Writer) OptText(name, s string) {
	if s != "" {
		w.Text(name, s)
	}
}
