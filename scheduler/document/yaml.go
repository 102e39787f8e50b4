package document

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// parseYAML reads a stream of at most that many documents. Errors are Problems. Documents are cut apart here, so that each is
// held to maxYAML.
func parseYAML(text string, most int, at *places) ([]Value, error) {
	var values []Value
	line, read := 0, 0
	for text != "" {
		chunk := text[:documentLength(text)]
		if !isBlank(chunk) {
			if read == most {
				return nil, wrongText(line+1, 1, "more than "+strconv.Itoa(most)+" documents")
			}
			read++
			docs, err := parseChunk(chunk, line, at)
			if err != nil {
				return nil, err
			}
			values = append(values, docs...)
		}
		line += strings.Count(chunk, "\n")
		text = text[len(chunk):]
	}
	if len(values) == 0 {
		return nil, Problem{Message: "the document is empty"}
	}
	return values, nil
}

// isBlank reports whether there is nothing in a document but comments: what it takes to begin and end one costs more than
// it weighs.
func isBlank(chunk string) bool {
	for line := range strings.Lines(chunk) {
		line = strings.TrimRight(line, " \t\r\n")
		if line != "" && line[0] != '#' && line != "---" && line != "..." {
			return false
		}
	}
	return true
}

// documentLength returns the length of the first document of a stream: up to the next line that is "---", or behind one that
// is "...", which YAML allows at the start of a line for no other purpose. Comments and %directives before the first ---
// belong to it.
func documentLength(text string) int {
	content, length := false, 0
	for line := range strings.Lines(text) {
		begins := marks(line, "---")
		if begins && content {
			return length
		}
		length += len(line)
		if marks(line, "...") {
			return length
		}
		content = content || begins || !isPrelude(line)
	}
	return length
}

// marks reports whether a line begins with a marker of documents.
func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}

// parseChunk reads the documents of a text that begins after line lines of its stream.
func parseChunk(text string, line int, at *places) ([]Value, error) {
	if len(text) > maxYAML {
		return nil, wrongText(line+1, 1, "a YAML document may be "+strconv.Itoa(maxYAML)+" bytes long")
	}
	text, breaks := hideBreaks(asOld(text))
	loader, err := yaml.NewLoader(strings.NewReader(text), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthFunc(limitDepth))))
	if err != nil {
		return nil, wrongText(line+1, 1, "not valid YAML")
	}
	var values []Value
	for {
		node, err := nextNode(loader)
		if errors.Is(err, io.EOF) {
			return values, nil
		}
		if err != nil {
			return nil, wrongYAML(text, line, err)
		}
		if node == nil {
			continue
		}
		at.begin(placeOf(line, node))
		r := yamlReader{line: line, places: at, breaks: breaks}
		v, err := r.value(node, 0)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
}

// nextNode runs the YAML library, whose panics become errors. An empty document is nil, the end [io.EOF].
func nextNode(loader *yaml.Loader) (node *yaml.Node, err error) {
	defer func() {
		if recover() != nil {
			node, err = nil, errors.New("panic")
		}
	}()
	var doc yaml.Node
	if err := loader.Load(&doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil //nolint:nilnil // as said above
	}
	return doc.Content[0], nil
}

// errDeep is the library's error for nesting.
var errDeep = errors.New("nested deeper than " + strconv.Itoa(maxDepth) + " levels")

// limitDepth refuses nesting before anything is made of it. depth is of blocks, or of brackets.
func limitDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return errDeep
	}
	return nil
}

// wrongYAML returns the problem that an error of the YAML library tells of, without what it quotes of the text, which may be
// a secret.
func wrongYAML(text string, line int, err error) error {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return wrongText(line+1, 1, "not valid YAML")
	}
	message := e.Message
	switch {
	case strings.HasPrefix(message, "unknown anchor"):
		message = noAnchor
	case strings.HasPrefix(message, "found character that cannot start any token"):
		message = "no value begins like this: tabs do not indent, and text that begins with @, % or ` stands in quotes"
	case message != errDeep.Error() && e.ContextMsg != "":
		message += " " + e.ContextMsg
		if from := e.ContextMark; from.Line > 0 && from != e.Mark {
			message += " that begins at " + strconv.Itoa(line+from.Line) + ":" + strconv.Itoa(from.Column)
		}
	}
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), `"`) {
		message += "; if it is JSON, it stands in braces"
	}
	if e.Mark.Line == 0 { // where the character stands is all that is known
		atLine, column := at(text, e.Mark.Index)
		return wrongText(line+atLine, column, message)
	}
	return wrongText(line+e.Mark.Line, e.Mark.Column, message)
}

// placeOf returns the place of a node, where line lines of the stream come before its document.
func placeOf(line int, node *yaml.Node) place {
	return place{line + max(node.Line, 1), max(node.Column, 1)}
}
