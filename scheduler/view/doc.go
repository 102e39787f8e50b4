// Package view is what the APIs of the scheduler answer, and the parameters of
// lists that they are asked with. All of them show the same JSON, in the form of
// Azure Scheduler where that has one.
//
//  1. No view shows a secret.
//  2. Times are RFC 3339 in UTC, durations seconds as a number.
//  3. An error names every wrong place of the input by its path.
package view

import (
	"bytes"
	"encoding/json"
)

// JSON returns a view as compact JSON. Beside what JSON requires, only the line
// separators U+2028 and U+2029 are escaped.
func JSON(v any) []byte {
	if j, ok := v.(*Job); ok && j != nil {
		return j.appendJSON(make([]byte, 0, usualSize))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("view: " + err.Error()) // plain fields, times of this era, and documents that were read: a defect
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
