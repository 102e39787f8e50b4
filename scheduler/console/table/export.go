package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Files are the addresses of a list as files.
type Files struct{ CSV, JSON string }

// FilesOf returns the addresses of a list with parameters, whose page calls [List.Export].
func FilesOf(path string, v url.Values, pairs ...string) *Files {
	at := func(form string) string { return frame.Address(path, v, append(pairs, "as", form)...) }
	return &Files{at("csv"), at("json")}
}

// A List is a list that [List.Export] sends as a file.
type List[T any, P comparable] struct {
	Name   string      // of the file
	Fields []string    // the columns of CSV: paths in the documents, such as properties.state
	JSON   func(T) any // the document of an item in the APIs. Default: the item

	// Next returns the page at a position, the zero value for the first page, and the position of the next one, zero for none.
	Next func(P) ([]T, P, error)
}

// patience limits the time in which a browser must take a page of a file.
const patience = time.Minute

// Export sends all pages of the list if the URL asks for a file with as=csv (RFC 4180) or as=json (an array), and reports whether
// it does. After an error, the transfer breaks off, so that no browser takes the file for complete.
func (l List[T, P]) Export(c *frame.Request) (sent bool, err error) {
	format := c.Choice("as", "csv", "json")
	if format == "" {
		return false, nil
	}
	leave, err := c.Lasts()
	if err != nil {
		return true, err
	}
	defer leave()
	var at, none P
	separator := "[\n"
	answer := http.NewResponseController(c.Writer)
	for begun := false; ; begun = true {
		items, next, err := l.Next(at)
		var page []byte
		if err == nil {
			page, err = l.encode(format, items, &separator, !begun)
		}
		if next == none && format == "json" {
			page = append(page, strings.TrimPrefix(separator, ",")+"]\n"...)
		}
		switch {
		case err != nil && begun:
			panic(http.ErrAbortHandler)
		case err != nil:
			return true, err
		case !begun:
			h := c.Writer.Header()
			h.Set("Content-Type", map[string]string{"csv": "text/csv; charset=utf-8; header=present", "json": "application/json"}[format])
			h.Set("Content-Disposition", `attachment; filename="carillon-`+l.Name+`.`+format+`"`)
		}
		_ = answer.SetWriteDeadline(time.Now().Add(patience)) // a writer without a connection needs no deadline
		if _, err := c.Writer.Write(page); err != nil || next == none || answer.Flush() != nil {
			_ = answer.SetWriteDeadline(time.Time{})
			return true, nil // or the reader has gone
		}
		at = next
	}
}

// encode returns the items of a page as a part of a file. separator is what precedes the next document.
func (l List[T, P]) encode(format string, items []T, separator *string, first bool) ([]byte, error) {
	var out bytes.Buffer
	lines := csv.NewWriter(&out) // it accepts all writes
	lines.UseCRLF = true
	if first && format == "csv" {
		_ = lines.Write(l.Fields)
	}
	for _, item := range items {
		var shown any = item
		if l.JSON != nil {
			shown = l.JSON(item)
		}
		data, err := json.Marshal(shown)
		if err == nil && format == "csv" {
			var v document.Value
			if v, err = document.Parse(data); err == nil {
				_ = lines.Write(l.line(v))
			}
		}
		if err != nil {
			return nil, err
		}
		if format == "json" {
			out.WriteString(*separator)
			out.Write(data)
			*separator = ",\n"
		}
	}
	lines.Flush()
	return out.Bytes(), nil
}

// line returns the fields of a document. A text that a spreadsheet would take for a formula begins with an apostrophe.
func (l List[T, P]) line(of document.Value) []string {
	line := make([]string, len(l.Fields))
	for i, path := range l.Fields {
		v := of
		for name := range strings.SplitSeq(path, ".") {
			v, _ = v.Member(name)
		}
		switch line[i] = v.Text(); v.Kind() {
		case document.KindBool:
			line[i] = strconv.FormatBool(v.Bool())
		case document.KindObject, document.KindArray:
			line[i] = v.String()
		case document.KindString:
			if strings.ContainsAny(line[i][:min(1, len(line[i]))], "=+-@\t\r") {
				line[i] = "'" + line[i]
			}
		case document.KindNull, document.KindNumber:
		}
	}
	return line
}
