// Package v1 defines the JSON that every API of the scheduler returns, and the parameters of its lists. The JSON has
// the form of Azure Scheduler where Azure has an equivalent.
//
//	scheduler, service ──► view ──┬──► package rest      HTTP
//	                              ├──► package natsapi   NATS
//	                              └──► sources.json      descriptions in the OpenAPI document
//
// Resources are [Job], [Collection], [Record], [SharedSecret] and [Token]; [List] is a page of them. [Error] is the
// error document. [Page], [JobSearch] and [HistoryFilter] parse list parameters.
//
// Guarantees:
//
//  1. No view contains a secret.
//  2. Times are RFC 3339 in UTC; durations are numbers of seconds.
//  3. An error reports each problem of the input with its path.
package v1

import (
	"bytes"
	"encoding/json"
)

// JSON returns a view as compact JSON. In addition to the characters that JSON requires, it escapes only the line
// separators U+2028 and U+2029.
func JSON(v any) []byte {
	if j, ok := v.(*Job); ok && j != nil {
		return j.appendJSON(make([]byte, 0, usualSize))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("view: " + err.Error()) // a defect: views hold plain fields, valid times and parsed documents
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
