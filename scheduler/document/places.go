package document

import (
	"strings"
	"unicode/utf8"
)

// place is where something begins in a text, both counted from 1, columns in characters.
type place struct{ line, column int }

// places says where the values of documents stand: a scalar where it begins, an object or array where its name does. They
// are collected while a text is parsed. A nil *places collects nothing.
type places struct {
	path      string             // of the value that is being parsed
	documents []map[string]place // by path, in lower case
	noted     int                // in all documents
}

// The bounds of what is noted, beyond what any document may have that a scheduler takes. What stands in something with a
// longer path has the place of that.
const (
	maxPlaces    = 500_000
	maxPlacePath = 4 << 10 // bytes
)

// begin starts a document.
func (p *places) begin(at place) {
	if p != nil {
		p.path, p.documents = "", append(p.documents, map[string]place{"": at})
	}
}

// enter notes the place of a value, whose path is told from that of what it stands in, and returns the path that is to be
// gone back to.
func (p *places) enter(path func(outer string) string, at place) (outer string) {
	outer = p.path
	if len(outer) > maxPlacePath || p.noted == maxPlaces {
		return outer
	}
	p.path = path(outer)
	found := p.documents[len(p.documents)-1]
	if key := strings.ToLower(p.path); found[key] == (place{}) {
		found[key] = at
		p.noted++
	}
	return outer
}

// of returns the place of the value at a path, or of the nearest that is there around it.
func (p *places) of(document int, path string) place {
	if document >= len(p.documents) {
		return place{1, 1}
	}
	for path = strings.ToLower(path); ; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		if at, ok := p.documents[document][path]; ok {
			return at
		}
	}
}

// cursor turns offsets of a text into places. The offsets may only rise, so that all of them cost one walk.
type cursor struct {
	text   string
	offset int
	at     place // of the offset, less one
}

func (c *cursor) place(offset int) place {
	passed := c.text[c.offset:offset]
	if last := strings.LastIndexByte(passed, '\n'); last >= 0 {
		c.at.line += strings.Count(passed, "\n")
		c.at.column, passed = 0, passed[last+1:]
	}
	c.at.column += utf8.RuneCountInString(passed)
	c.offset = offset
	return place{c.at.line + 1, c.at.column + 1}
}
