package document

import (
	"errors"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML reads a stream of documents. Errors are Problems.
//
// The YAML library takes time and memory that grow with the square of a document's nesting and width, so documents are
// cut apart here and each is held to maxYAML.
func parseYAML(text string, at *places) ([]Value, error) {
	var values []Value
	line := 0
	for text != "" {
		chunk := text[:documentLength(text)]
		docs, err := parseChunk(chunk, line, at)
		if err != nil {
			return nil, err
		}
		values = append(values, docs...)
		line += strings.Count(chunk, "\n")
		text = text[len(chunk):]
	}
	if len(values) == 0 {
		return nil, Problem{Message: "the document is empty"}
	}
	return values, nil
}

// documentLength returns the length of the first document of a stream: up to the next line that is "---", which YAML
// allows at the start of a line for no other purpose. Comments and %directives before the first --- belong to it.
func documentLength(text string) int {
	content, length := false, 0
	for whole := range strings.Lines(text) {
		line := strings.TrimRight(whole, " \t\r\n")
		marker := line == "---" || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "---\t")
		if marker && content {
			return length
		}
		content = content || marker || line != "" && line[0] != '#' && line[0] != '%'
		length += len(whole)
	}
	return length
}

// parseChunk reads the documents of a text that begins after line lines of its stream.
func parseChunk(text string, line int, at *places) ([]Value, error) {
	if len(text) > maxYAML {
		return nil, wrongText(line+1, 1, "a YAML document may be "+strconv.Itoa(maxYAML)+" bytes long")
	}
	file, err := parseAST(text, line)
	if err != nil {
		return nil, err
	}
	var values []Value
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.DirectiveType {
			continue
		}
		at.begin(placeOf(line, firstOf(doc.Body)))
		r := yamlReader{line: line, places: at}
		v, err := r.value(doc.Body, 0)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// parseAST runs the YAML library, whose panics on malformed text become problems like its errors.
func parseAST(text string, line int) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, wrongText(line+1, 1, "not valid YAML")
		}
	}()
	file, err = parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if e, ok := errors.AsType[yaml.Error](err); ok {
		at := placeOf(line, e.GetToken())
		message := strings.TrimSuffix(unquoted(e.GetMessage()), ". map key-value is pre-defined")
		if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), `"`) {
			message += "; if it is JSON, it stands in braces"
		}
		return nil, wrongText(at.line, at.column, message)
	}
	if err != nil {
		return nil, wrongText(line+1, 1, "not valid YAML")
	}
	return file, nil
}

// unquoted cuts off what the YAML library quotes of the text, which may be a secret.
func unquoted(message string) string {
	before, _, _ := strings.Cut(message, `"`)
	return strings.TrimRight(before, ": ")
}

// firstOf returns the token with which a node begins; that of an object is the colon behind its first name.
func firstOf(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// placeOf returns the place of a token, where line lines of the stream come before its document.
func placeOf(line int, t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{line + 1, 1}
	}
	return place{line + t.Position.Line, t.Position.Column}
}
