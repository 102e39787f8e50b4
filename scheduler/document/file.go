package document

import (
	"strings"
	"sync"
)

// File is the documents of a file, and where in it they say what they say. It is safe for concurrent use.
type File struct {
	Documents []Value

	places func() *places
}

// ParseFile reads the documents of a file as [ParseAll] does. JSON may have comments there, // and /* */, and a comma
// before a closing bracket (JSONC, as editors call it), because people keep files and programs send documents.
func ParseFile(data []byte) (*File, error) {
	text, isJSON, err := readText(data)
	if err != nil {
		return nil, err
	}
	parse := func(at *places) ([]Value, error) {
		if isJSON {
			return alone(parseJSON(&jsonParser{text: text, comments: true, places: at, cursor: cursor{text: text}}))
		}
		return parseYAML(text, maxStream, at)
	}
	f := &File{places: sync.OnceValue(func() *places { // they are asked for when something is wrong
		at := &places{}
		_, _ = parse(at)
		return at
	})}
	f.Documents, err = parse(nil)
	return f, err
}

// Place returns the line and the column at which the value at a path of a document begins, both from 1. Documents count
// from 0. In place of a value that is not there it is that of the nearest around it.
func (f *File) Place(document int, path string) (line, column int) {
	at := f.places().of(document, strings.TrimSpace(path))
	return at.line, at.column
}
