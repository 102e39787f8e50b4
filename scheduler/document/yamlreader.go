package document

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// yamlReader turns the nodes of one document into a Value. The work is bounded by maxValues, maxRepeated and maxDepth, also
// where aliases repeat what an anchor named.
type yamlReader struct {
	line     int // lines of the stream before the document
	breaks   *strings.Replacer
	anchors  map[*yaml.Node]Value
	values   int
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

// named reads a value with its name, or that itself. path returns its path from that of what it stands in.
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
		if err := r.charge(n, depth+1); err != nil {
			return inner, err
		}
		return r.repeat(n, inner, depth+1)
	})
}

// charge counts a value against the limits.
func (r *yamlReader) charge(node *yaml.Node, depth int) error {
	r.values++
	if r.values > maxValues {
		return r.refuse(node, "more than "+strconv.Itoa(maxValues)+" values")
	}
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
