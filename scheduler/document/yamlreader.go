package document

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// yamlReader turns the syntax tree of one document into a Value. The work is bounded by maxValues and maxDepth, also
// where aliases repeat what an anchor named.
type yamlReader struct {
	line    int // lines of the stream before the document
	anchors map[string]Value
	values  int
	places  *places // nil unless they are asked for
}

func (r *yamlReader) value(node ast.Node, depth int) (Value, error) {
	if err := r.charge(node, depth); err != nil {
		return Value{}, err
	}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return Value{}, nil
	case *ast.BoolNode:
		return BoolValue(n.Value), nil
	case *ast.IntegerNode:
		return r.number(n, fmt.Sprint(n.Value))
	case *ast.FloatNode:
		return r.number(n, strconv.FormatFloat(n.Value, 'g', -1, 64))
	case *ast.StringNode:
		return r.text(n, n.Value)
	case *ast.LiteralNode:
		return r.text(n, n.Value.Value)
	case *ast.SequenceNode:
		return r.array(n, depth)
	case *ast.MappingNode:
		return r.object(n.Values, depth)
	case *ast.MappingValueNode:
		return r.object([]*ast.MappingValueNode{n}, depth)
	case *ast.AnchorNode:
		return r.anchor(n, depth)
	case *ast.AliasNode:
		return r.alias(n, depth)
	}
	return Value{}, r.refuse(node, node.Type().YAMLName()+" is not supported")
}

// number returns a number with the text it was written in if that is JSON, else (0x1F, +5, .5) with canonical text. A
// leading zero is refused: 010 is eight to one reader of YAML and ten to another. No message repeats what was written: it
// may be a password without quotes.
func (r *yamlReader) number(node ast.Node, canonical string) (Value, error) {
	written := node.GetToken().Value
	if numberLength(written) == len(written) {
		return Value{kind: KindNumber, text: written}, nil
	}
	if bare := strings.TrimLeft(written, "+-"); len(bare) > 1 && bare[0] == '0' && digits(bare[1:]) > 0 {
		return Value{}, r.refuse(node, "a number has a leading zero; drop it, or put text in quotes")
	}
	if numberLength(canonical) != len(canonical) {
		return Value{}, r.refuse(node, "not a number that JSON can hold; put text in quotes")
	}
	return Value{kind: KindNumber, text: canonical}, nil
}

func (r *yamlReader) text(node ast.Node, s string) (Value, error) {
	if !utf8.ValidString(s) {
		return Value{}, r.refuse(node, "not valid UTF-8")
	}
	return StringValue(s), nil
}

func (r *yamlReader) array(n *ast.SequenceNode, depth int) (Value, error) {
	items := make([]Value, 0, len(n.Values))
	for i, node := range n.Values {
		item, err := r.named(node, node, depth+1, func(outer string) string { return element(outer, i) })
		if err != nil {
			return Value{}, within(element("", i), err)
		}
		items = append(items, item)
	}
	return ArrayValue(items...), nil
}

func (r *yamlReader) object(nodes []*ast.MappingValueNode, depth int) (Value, error) {
	members := make([]Member, 0, len(nodes))
	var names nameSet
	for _, node := range nodes {
		key, ok := node.Key.(*ast.StringNode)
		if !ok || !utf8.ValidString(key.Value) {
			return Value{}, r.refuse(node.Key, "a field name must be text; put it in quotes")
		}
		if strings.HasPrefix(key.Value, "//") && key.GetToken().Type == token.StringType {
			return Value{}, r.refuse(key, "a comment of YAML begins with #; comments with // go with JSON, which stands in braces")
		}
		if !names.add(key.Value, members) {
			return Value{}, r.refuse(key, "duplicate field "+strconv.Quote(key.Value))
		}
		v, err := r.named(key, node.Value, depth+1, func(outer string) string { return member(outer, key.Value) })
		if err != nil {
			return Value{}, within(member("", key.Value), err)
		}
		members = append(members, Member{key.Value, v})
	}
	return ObjectValue(members...), nil
}

// named reads a value with its name, or that itself. path returns its path from that of what it stands in.
func (r *yamlReader) named(name, node ast.Node, depth int, path func(outer string) string) (Value, error) {
	if r.places == nil {
		return r.value(node, depth)
	}
	at := r.placeOf(name)
	switch node.(type) {
	case *ast.SequenceNode, *ast.MappingNode, *ast.MappingValueNode, *ast.NullNode, nil:
	default:
		at = r.placeOf(node)
	}
	outer := r.places.enter(path, at)
	v, err := r.value(node, depth)
	r.places.path = outer
	return v, err
}

// anchor reads a value and remembers it under its name, so not inside itself.
func (r *yamlReader) anchor(n *ast.AnchorNode, depth int) (Value, error) {
	v, err := r.value(n.Value, depth)
	if err != nil {
		return v, err
	}
	if r.anchors == nil {
		r.anchors = make(map[string]Value)
	}
	r.anchors[n.Name.GetToken().Value] = v
	return v, nil
}

// alias repeats the value of an anchor.
func (r *yamlReader) alias(n *ast.AliasNode, depth int) (Value, error) {
	name := n.Value.GetToken().Value
	v, ok := r.anchors[name]
	if !ok {
		return v, r.refuse(n, "no anchor of that name before this alias; put text that begins with * in quotes")
	}
	return r.repeat(n, v, depth)
}

// repeat copies v, so that the document stays a tree, and charges for what it holds.
func (r *yamlReader) repeat(n *ast.AliasNode, v Value, depth int) (Value, error) {
	return v.each("", func(_ string, inner Value) (Value, error) {
		if err := r.charge(n, depth+1); err != nil {
			return inner, err
		}
		return r.repeat(n, inner, depth+1)
	})
}

// charge counts a value against the limits.
func (r *yamlReader) charge(node ast.Node, depth int) error {
	r.values++
	if r.values > maxValues {
		return r.refuse(node, "more than "+strconv.Itoa(maxValues)+" values")
	}
	if depth >= maxDepth {
		return r.refuse(node, "nested deeper than "+strconv.Itoa(maxDepth)+" levels")
	}
	return nil
}

// refuse returns a problem at the place of node.
func (r *yamlReader) refuse(node ast.Node, message string) error {
	at := r.placeOf(node)
	return wrongText(at.line, at.column, message)
}

func (r *yamlReader) placeOf(node ast.Node) place {
	if node == nil {
		return place{r.line + 1, 1}
	}
	return placeOf(r.line, node.GetToken())
}
