package document

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of a document. They bound the cost of hostile text, far above the needs of a job (16 KB).
const (
	maxSize     = 4 << 20  // bytes of text
	maxYAML     = 64 << 10 // bytes of one YAML document of a stream
	maxDepth    = 64       // nested objects and arrays
	maxCopies   = 10_000   // values that the aliases of a YAML document may expand to
	maxRepeated = 1 << 20  // bytes of text that the aliases of a YAML document may expand to
	maxStream   = 10_000   // YAML documents per stream
)

// Parse parses one document: JSON if it begins with { or [, else YAML 1.2 within JSON's data model (no tags, no merge
// keys, names are text). The error is a [Problem]; a syntax error carries line:column.
func Parse(data []byte) (Value, error) { return ParseText(string(data)) }

// ParseText is [Parse] of a text, whose memory the strings of the document share.
func ParseText(text string) (Value, error) {
	text, isJSON, err := readText(text)
	switch {
	case err != nil:
		return Value{}, err
	case isJSON:
		return parseJSON(&jsonParser{text: text})
	}
	values, err := parseYAML(text, fewDocuments, nil)
	if err != nil {
		return Value{}, err
	}
	if len(values) != 1 {
		return Value{}, Problem{Message: "holds " + strconv.Itoa(len(values)) + " documents; one is expected"}
	}
	return values[0], nil
}

// ParseAll parses one JSON document or a stream of YAML documents separated by ---. It skips empty documents; a stream
// without any other is an error.
func ParseAll(data []byte) ([]Value, error) {
	text, isJSON, err := readText(string(data))
	switch {
	case err != nil:
		return nil, err
	case isJSON:
		return alone(parseJSON(&jsonParser{text: text}))
	}
	return parseYAML(text, maxStream, nil)
}

// alone returns a slice of one document.
func alone(v Value, err error) ([]Value, error) {
	if err != nil {
		return nil, err
	}
	return []Value{v}, nil
}

// fewDocuments is the maximum number of documents counted where one is expected.
const fewDocuments = 100

// readText returns data without its byte order mark, and whether it is JSON. A JSON comment is not valid YAML either. JSON
// with a line "---", for example at its end, is a YAML stream.
func readText(data string) (text string, isJSON bool, err error) {
	text = strings.TrimPrefix(data, "\uFEFF")
	if len(text) > maxSize {
		return "", false, Problem{Message: "is " + strconv.Itoa(len(text)) + " bytes long; the most is " + strconv.Itoa(maxSize)}
	}
	if !utf8.ValidString(text) {
		line, column := at(text, invalidAt(text))
		return "", false, wrongText(line, column, "not valid UTF-8")
	}
	start := strings.TrimLeft(text, " \t\r\n")
	if start == "" {
		return "", false, Problem{Message: "the document is empty"}
	}
	if !strings.ContainsAny(start[:1], "{[") && !beginsComment(start) {
		return text, false, nil
	}
	for line := range strings.Lines(text) {
		if marks(line, "---") {
			return text, false, nil
		}
	}
	return text, true, nil
}

// at returns the line and column of a byte offset, both from 1; columns count characters.
func at(text string, offset int) (line, column int) {
	p := (&cursor{text: text}).place(min(offset, len(text)))
	return p.line, p.column
}

// invalidAt returns the offset of the first invalid UTF-8 byte.
func invalidAt(text string) int {
	for i, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			return i
		}
	}
	return len(text)
}

// File holds the documents of a file and the positions of their values. It is safe for concurrent use.
type File struct {
	Documents []Value

	places func() *places
}

// ParseFile parses the documents of a file like [ParseAll]. In addition, JSON may contain comments, // and /* */, and
// trailing commas (JSONC), because people maintain files while programs send documents.
func ParseFile(data []byte) (*File, error) {
	text, isJSON, err := readText(string(data))
	if err != nil {
		return nil, err
	}
	parse := func(at *places) ([]Value, error) {
		if isJSON {
			return alone(parseJSON(&jsonParser{text: text, comments: true, places: at, cursor: cursor{text: text}}))
		}
		return parseYAML(text, maxStream, at)
	}
	f := &File{places: sync.OnceValue(func() *places { // computed on demand, for problems
		at := &places{}
		_, _ = parse(at)
		return at
	})}
	f.Documents, err = parse(nil)
	return f, err
}

// Place returns the line and column, both from 1, of the value at a path of a document, counted from 0. For an absent
// value it returns the position of the nearest enclosing value.
func (f *File) Place(document int, path string) (line, column int) {
	at := f.places().of(document, strings.TrimSpace(path))
	return at.line, at.column
}
