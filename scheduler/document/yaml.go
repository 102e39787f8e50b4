package document

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// parseYAML parses a stream of at most that many documents. Errors are Problems. It splits the documents itself, to
// apply maxYAML to each.
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

// isBlank reports whether a document consists of comments only. The YAML library's cost to begin and end such a
// document exceeds its size.
func isBlank(chunk string) bool {
	for line := range strings.Lines(chunk) {
		line = strings.TrimRight(line, " \t\r\n")
		if line != "" && line[0] != '#' && line != "---" && line != "..." {
			return false
		}
	}
	return true
}

// documentLength returns the length of the first document of a stream: up to the next line "---", or through a line
// "...", which YAML allows at the start of a line for no other purpose. Comments and %directives before the first ---
// are part of it.
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

// marks reports whether a line begins with a document marker.
func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}

// parseChunk parses the documents of a text that begins after line lines of its stream.
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

// nextNode calls the YAML library and converts its panics to errors. An empty document is nil, the end [io.EOF].
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

// errDeep is the library's nesting error.
var errDeep = errors.New("nested deeper than " + strconv.Itoa(maxDepth) + " levels")

// limitDepth refuses deep nesting before nodes are built. depth counts blocks or brackets.
func limitDepth(depth int, _ *yaml.DepthContext) error {
	if depth > maxDepth {
		return errDeep
	}
	return nil
}

// wrongYAML converts an error of the YAML library to a problem. It omits quoted input, which may be a secret.
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

// yamlReader turns the nodes of one document into a Value. The work is bounded by maxCopies, maxRepeated and maxDepth, also
// where aliases repeat what an anchor named.
type yamlReader struct {
	line     int // lines of the stream before the document
	breaks   *strings.Replacer
	anchors  map[*yaml.Node]Value
	copies   int     // values that aliases stand for
	repeated int     // bytes that aliases stand for
	places   *places // nil unless they are asked for
}

func (r *yamlReader) value(node *yaml.Node, depth int) (v Value, err error) {
	if err := r.charge(node, depth); err != nil {
		return Value{}, err
	}
	if node.Style&yaml.TaggedStyle != 0 || node.Tag == "!" {
		return Value{}, r.refuse(node, "tag is not supported")
	}
	switch node.Kind {
	case yaml.ScalarNode:
		v, err = r.scalar(node)
	case yaml.SequenceNode:
		v, err = r.array(node, depth)
	case yaml.MappingNode:
		v, err = r.object(node, depth)
	case yaml.AliasNode:
		return r.alias(node, depth)
	default:
		return Value{}, r.refuse(node, "not supported")
	}
	if err == nil && node.Anchor != "" { // from here on, so not inside itself
		if r.anchors == nil {
			r.anchors = make(map[*yaml.Node]Value)
		}
		r.anchors[node] = v
	}
	return v, err
}

func (r *yamlReader) scalar(node *yaml.Node) (Value, error) {
	v, wrong := scalarValue(node)
	if wrong != "" {
		return v, r.refuse(node, wrong)
	}
	v.text = r.breaks.Replace(v.text)
	return v, nil
}

func (r *yamlReader) array(n *yaml.Node, depth int) (Value, error) {
	items := make([]Value, 0, len(n.Content))
	for i, node := range n.Content {
		item, err := r.named(node, node, depth+1, func(outer string) string { return element(outer, i) })
		if err != nil {
			return Value{}, within(element("", i), err)
		}
		items = append(items, item)
	}
	return ArrayValue(items...), nil
}

func (r *yamlReader) object(n *yaml.Node, depth int) (Value, error) {
	members := make([]Member, 0, len(n.Content)/2)
	var names nameSet
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, node := n.Content[i], n.Content[i+1]
		name, err := r.name(key)
		if err != nil {
			return Value{}, err
		}
		if !names.add(name, members) {
			return Value{}, r.refuse(key, "duplicate field "+strconv.Quote(name))
		}
		v, err := r.named(key, node, depth+1, func(outer string) string { return member(outer, name) })
		if err != nil {
			return Value{}, within(member("", name), err)
		}
		members = append(members, Member{name, v})
	}
	return ObjectValue(members...), nil
}

// name reads the name of a member.
func (r *yamlReader) name(key *yaml.Node) (string, error) {
	plain := key.Style&quoted == 0
	if key.Kind != yaml.ScalarNode || key.Style&yaml.TaggedStyle != 0 || key.Tag == "!" || plain && key.Value == "<<" {
		return "", r.refuse(key, unnamed)
	}
	if plain && strings.HasPrefix(key.Value, "//") {
		return "", r.refuse(key, "a comment of YAML begins with #; comments with // go with JSON, which stands in braces")
	}
	if v, wrong := scalarValue(key); v.kind != KindString || wrong != "" {
		return "", r.refuse(key, unnamed)
	}
	return r.breaks.Replace(key.Value), nil
}

// unnamed is said of a name that YAML takes for something else than text.
const unnamed = "a field name must be text; put it in quotes"

// named reads a value together with its field name, or an item without one. path appends the name or index to the
// path of the enclosing object or list.
func (r *yamlReader) named(name, node *yaml.Node, depth int, path func(outer string) string) (Value, error) {
	if r.places == nil {
		return r.value(node, depth)
	}
	at := placeOf(r.line, name)
	if node.Kind == yaml.AliasNode || node.Anchor != "" || node.Kind == yaml.ScalarNode && !isNull(node) {
		at = placeOf(r.line, node)
	}
	outer := r.places.enter(path, at)
	v, err := r.value(node, depth)
	r.places.path = outer
	return v, err
}

// noAnchor is said of an alias of nothing.
const noAnchor = "no anchor of that name before this alias; put text that begins with * in quotes"

// alias repeats the value of an anchor.
func (r *yamlReader) alias(n *yaml.Node, depth int) (Value, error) {
	v, ok := r.anchors[n.Alias]
	if !ok {
		return v, r.refuse(n, noAnchor)
	}
	return r.repeat(n, v, depth)
}

// repeat copies v, so that the document stays a tree, and charges for what it holds.
func (r *yamlReader) repeat(n *yaml.Node, v Value, depth int) (Value, error) {
	r.repeated += len(v.text)
	for i := range v.members {
		r.repeated += len(v.members[i].Name)
	}
	if r.repeated > maxRepeated {
		return v, r.refuse(n, "aliases stand for more than "+strconv.Itoa(maxRepeated)+" bytes")
	}
	return v.each("", func(_ string, inner Value) (Value, error) {
		if r.copies == maxCopies {
			return inner, r.refuse(n, "aliases stand for more than "+strconv.Itoa(maxCopies)+" values")
		}
		r.copies++
		if err := r.charge(n, depth+1); err != nil {
			return inner, err
		}
		return r.repeat(n, inner, depth+1)
	})
}

// charge holds a value against the limit of nesting.
func (r *yamlReader) charge(node *yaml.Node, depth int) error {
	if depth >= maxDepth {
		return r.refuse(node, errDeep.Error())
	}
	return nil
}

// refuse returns a problem at the place of node.
func (r *yamlReader) refuse(node *yaml.Node, message string) error {
	at := placeOf(r.line, node)
	return wrongText(at.line, at.column, message)
}
