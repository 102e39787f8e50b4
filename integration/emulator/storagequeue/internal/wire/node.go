package wire

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a document. The largest one, five CORS rules, has 40 elements in four levels.
const (
	maxDepth = 8
	maxNodes = 256
)

// A document is a parsed document. It keeps its first problem.
type document struct {
	root *node
	err  error
}

// A node is an element of a document: with children, or with text.
type node struct {
	document *document
	name     string
	text     string
	children []*node
}

// parse reads a document whose root has the given name.
func parse(body []byte, root string) (*node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\ufeff"))))
	p := parser{decoder: decoder, document: &document{}}
	for {
		token, err := decoder.Token()
		switch {
		case errors.Is(err, io.EOF) && p.root != nil:
			if p.root.name != root {
				return nil, InvalidXML.With("Reason", "the root element is not "+root)
			}
			return p.root, nil
		case errors.Is(err, io.EOF):
			return nil, p.refuse("the document has no element")
		case err != nil:
			return nil, p.refuse(err.Error())
		}
		if err := p.take(token); err != nil {
			return nil, err
		}
	}
}

type parser struct {
	*document

	decoder *xml.Decoder
	open    []*node // from the root to the innermost element
	texts   [maxDepth]strings.Builder
	nodes   int
}

func (p *parser) take(token xml.Token) error {
	switch token := token.(type) {
	case xml.StartElement:
		return p.start(token.Name.Local)
	case xml.EndElement:
		return p.end()
	case xml.CharData:
		if depth := len(p.open); depth > 0 {
			p.texts[depth-1].Write(token)
		} else if len(bytes.TrimSpace(token)) > 0 {
			return p.refuse("there is text outside the root element")
		}
	case xml.Directive:
		return p.refuse("a document type is not accepted")
	}
	return nil
}

func (p *parser) start(name string) error {
	p.nodes++
	if p.nodes > maxNodes || len(p.open) == maxDepth {
		return p.refuse("there are too many elements")
	}
	n := &node{document: p.document, name: name}
	switch {
	case len(p.open) > 0:
		parent := p.open[len(p.open)-1]
		parent.children = append(parent.children, n)
	case p.root != nil:
		return p.refuse("there is more than one root element")
	default:
		p.root = n
	}
	p.texts[len(p.open)].Reset()
	p.open = append(p.open, n)
	return nil
}

func (p *parser) end() error {
	depth := len(p.open)
	n := p.open[depth-1]
	n.text = p.texts[depth-1].String()
	p.open = p.open[:depth-1]
	if len(n.children) > 0 && strings.TrimSpace(n.text) != "" {
		return p.refuse("the element " + n.name + " has both text and elements")
	}
	return nil
}

func (p *parser) refuse(reason string) error {
	line, column := p.decoder.InputPos()
	return InvalidXML.
		With("LineNumber", strconv.Itoa(line)).
		With("LinePosition", strconv.Itoa(column)).
		With("Reason", reason)
}

// fail records a problem of the document.
func (n *node) fail(err error) {
	if n.document.err == nil {
		n.document.err = err
	}
}

// invalid notes that the text of the only child of a name is wrong.
func (n *node) invalid(name, text string) {
	n.fail(InvalidNode.With("XmlNodeName", name).With("XmlNodeValue", text))
}

// child returns the only child with a name, or nil.
func (n *node) child(name string) *node {
	var found *node
	for _, c := range n.children {
		if c.name != name {
			continue
		}
		if found != nil {
			n.fail(InvalidXML.With("Reason", "the element "+name+" is not unique"))
		}
		found = c
	}
	return found
}

// value returns the text of the only child of a name, and whether there is one.
func (n *node) value(name string) (string, bool) {
	c := n.child(name)
	if c == nil {
		return "", false
	}
	if len(c.children) > 0 {
		n.fail(UnsupportedNode.With("XmlNodeName", c.children[0].name))
	}
	return c.text, true
}

// only refuses children of other names.
func (n *node) only(names ...string) {
	for _, c := range n.children {
		if !slices.Contains(names, c.name) {
			n.fail(UnsupportedNode.With("XmlNodeName", c.name))
		}
	}
}
