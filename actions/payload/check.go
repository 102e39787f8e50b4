package payload

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// checker walks through a parsed template. It refuses forbidden constructs and unknown names anywhere, also
// behind a condition that no sample meets. It knows the types of the data; a nil type is known only when
// rendering.
type checker struct {
	text         string
	given        values          // what .Data has
	uses         map[string]bool // names of members of .Data; allData for all of them
	vars         []variable
	parts, calls int
	err          error // the first mistake
}

type variable struct {
	name string
	typ  reflect.Type
}

const noTemplates = "{{define}}, {{block}} and {{template}} are not available: a template cannot contain others"

// allData represents all fields of .Data in a list of names.
const allData = "*"

// check checks every part of a template with the data given, and returns the names in the data that it uses.
// trees holds the templates that it defines.
func check(text string, given values, tree *parse.Tree, trees map[string]*parse.Tree) (uses map[string]bool, err error) {
	c := checker{text: text, given: given, uses: map[string]bool{}, vars: []variable{{"$", reflect.TypeFor[data]()}}}
	c.list(tree.Root, reflect.TypeFor[data]())
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if trees[name] != tree {
			c.refusef(trees[name].Root.Pos, noTemplates)
		}
	}
	return c.uses, c.err
}

func (c *checker) refusef(pos parse.Pos, format string, args ...any) {
	if c.err == nil {
		c.err = mistake(c.text, int(pos), fmt.Sprintf(format, args...))
	}
}

// count counts a part of the template.
func (c *checker) count(pos parse.Pos) {
	c.parts++
	if c.parts > maxParts {
		c.refusef(pos, "the template has more than the allowed %d parts", maxParts)
	}
}

func (c *checker) list(list *parse.ListNode, dot reflect.Type) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		c.count(node.Position())
		switch node := node.(type) {
		case *parse.TextNode:
		case *parse.ActionNode:
			c.pipe(node.Pipe, dot)
		case *parse.IfNode:
			c.branch(&node.BranchNode, dot, false)
		case *parse.WithNode:
			c.branch(&node.BranchNode, dot, true)
		case *parse.RangeNode:
			c.refusef(node.Pos, "{{range}} is not available: a template has no loops")
		default:
			c.refusef(node.Position(), noTemplates)
		}
	}
}

// branch looks at an if or, where dot becomes the value, a with.
func (c *checker) branch(node *parse.BranchNode, dot reflect.Type, with bool) {
	outside := len(c.vars)
	inner := c.pipe(node.Pipe, dot)
	if !with {
		inner = dot
	}
	declared := len(c.vars)
	c.list(node.List, inner)
	c.vars = c.vars[:declared]
	c.list(node.ElseList, dot)
	c.vars = c.vars[:outside]
}

// pipe returns the type of the last command of a pipeline. Each takes the value of the one before as its last argument.
func (c *checker) pipe(pipe *parse.PipeNode, dot reflect.Type) (typ reflect.Type) {
	for i, command := range pipe.Cmds {
		isOpen := typ == openType
		first, name := command.Args[0], command.Args[0].String()
		command.Args[0], typ = c.operand(first, dot)
		if command.Args[0] != first && (i > 0 || len(command.Args) > 1) {
			c.refusef(first.Position(), "%s takes no arguments", name)
		}
		for n, arg := range command.Args[1:] {
			var of reflect.Type
			command.Args[n+1], of = c.operand(arg, dot)
			isOpen = isOpen || of == openType
		}
		if typ == nil && isOpen { // and, or, default
			typ = openType
		}
	}
	for _, v := range pipe.Decl {
		if !pipe.IsAssign {
			c.vars = append(c.vars, variable{v.Ident[0], typ})
		} else if known := c.variable(v.Ident[0]); known.typ != typ {
			known.typ = nil
		}
	}
	return typ
}

// variable returns the innermost variable of a name, which the parser has seen declared.
func (c *checker) variable(name string) *variable {
	for i, v := range slices.Backward(c.vars) {
		if v.name == name {
			return &c.vars[i]
		}
	}
	return &c.vars[0]
}

// operand returns the type of the value of a node, and the node; for one that reads below an open value, its replacement.
func (c *checker) operand(n parse.Node, dot reflect.Type) (used parse.Node, typ reflect.Type) {
	c.count(n.Position())
	var below []string
	switch node := n.(type) {
	case *parse.IdentifierNode:
		return n, c.call(node)
	case *parse.ChainNode:
		node.Node, typ = c.operand(node.Node, dot)
		typ, below = c.fields(node.Pos, typ, node.Field)
		if node.Field = node.Field[:len(node.Field)-len(below)]; len(node.Field) == 0 {
			n = node.Node
		}
		return lookUp(n, below), typ
	case *parse.FieldNode:
		pos := node.Pos
		if len(node.Ident) > 1 { // the type of the second identifier
			pos -= parse.Pos(len(node.Ident[0]) + 1)
		}
		typ, below = c.fields(pos, dot, node.Ident)
		if node.Ident = node.Ident[:len(node.Ident)-len(below)]; len(node.Ident) == 0 {
			n = &parse.DotNode{NodeType: parse.NodeDot, Pos: node.Pos}
		}
		return lookUp(n, below), typ
	case *parse.VariableNode:
		if typ = c.variable(node.Ident[0]).typ; len(node.Ident) > 1 {
			typ, below = c.fields(node.Pos, typ, node.Ident[1:])
			node.Ident = node.Ident[:len(node.Ident)-len(below)]
			return lookUp(n, below), typ
		}
	case *parse.PipeNode:
		return n, c.pipe(node, dot)
	case *parse.DotNode:
		typ = dot
	case *parse.StringNode:
		return n, reflect.TypeFor[string]()
	case *parse.BoolNode:
		return n, reflect.TypeFor[bool]()
	case *parse.NumberNode:
		if node.IsInt || node.IsFloat {
			return n, reflect.TypeFor[float64]()
		}
		c.refusef(node.Pos, "%s is not a number that a template can hold", node)
	case *parse.NilNode:
		c.refusef(node.Pos, "nil is not available: what is not there is an empty text")
	}
	if typ == reflect.TypeFor[data]() {
		c.refusef(n.Position(), "the data as a whole cannot be used: name one of its fields, such as .Occurrence")
	}
	return n, typ
}

// lookUp returns a call of [member] with a node and the names below its value; the node, if there are none.
func lookUp(n parse.Node, below []string) parse.Node {
	if len(below) == 0 {
		return n
	}
	label := ""
	switch n.(type) {
	case *parse.FieldNode, *parse.VariableNode:
		label = n.String()
	}
	pos := n.Position()
	args := []parse.Node{parse.NewIdentifier(memberName).SetPos(pos), textNode(pos, label), n}
	for _, name := range below {
		args = append(args, textNode(pos, name))
	}
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{call}}
}

func textNode(pos parse.Pos, text string) *parse.StringNode {
	return &parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: strconv.Quote(text), Text: text}
}

// call returns the type of a function's result, and counts calls that return a text.
func (c *checker) call(node *parse.IdentifierNode) reflect.Type {
	f := reflect.TypeOf(functions[node.Ident])
	if f == nil || f.Out(0).Kind() == reflect.Interface {
		return nil
	}
	if f.Out(0).Kind() == reflect.String {
		c.calls++
		if c.calls > maxCalls {
			c.refusef(node.Pos, "the template calls functions that make a text more than the allowed %d times", maxCalls)
		}
	}
	return f.Out(0)
}

// fields returns the type of a field or of a method's result, of a field of a typ, and the names below an open value.
func (c *checker) fields(pos parse.Pos, typ reflect.Type, fields []string) (of reflect.Type, below []string) {
	for i, name := range fields {
		switch typ {
		case nil:
			return nil, nil
		case dataType:
			return c.member(pos, fields[i:]), nil
		case openType:
			return openType, fields[i:]
		}
		known := members[typ]
		if known[name] == nil {
			what := "field"
			if typ == reflect.TypeFor[*moment]() {
				what = "field or method"
			}
			c.refusef(pos, "%s has no %s .%s%s", kindOf(typ), what, name, alternatives(known, name))
			return nil, nil
		}
		typ, pos = known[name], pos+parse.Pos(len(name)+1)
	}
	if typ == dataType {
		c.uses[allData] = true
	}
	return typ, nil
}

// alternatives lists the names that exist, and the one closest to a name that does not.
func alternatives[T any](known map[string]T, name string) string {
	if len(known) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(known))
	hint := "; it has ." + strings.Join(names, ", .")
	if near := document.Nearest(name, names); near != "" {
		hint += "; did you mean ." + near + "?"
	}
	return hint
}

// dataType is the type of .Data. The job alone determines the types below it.
var dataType = reflect.TypeFor[values]()

// member returns the type of what .Data has at a path, nil for what rendering finds out.
func (c *checker) member(pos parse.Pos, path []string) reflect.Type {
	c.uses[path[0]] = true
	var v any = c.given
	for i, name := range path {
		object, ok := v.(values)
		switch value, found := object[name]; {
		case !ok:
			c.refusef(pos, "%s has no field .%s", kindOf(reflect.TypeOf(v)), name)
			return nil
		case name == "String":
			c.refusef(pos, "a template cannot use a member of this name: .%s", name)
			return nil
		case !found:
			owner := strings.Join(append([]string{".Data"}, path[:i]...), ".")
			c.refusef(pos, "%s has no member .%s%s", owner, name, object.hint(name))
			return nil
		default:
			v, pos = value, pos+parse.Pos(len(name)+1)
		}
	}
	if _, object := v.(values); object {
		return nil
	}
	return reflect.TypeOf(v)
}

// hint lists an object's fields in place of a missing one.
func (v values) hint(name string) string {
	if len(v) == 0 {
		return `: give it one in "data" of the job or next to the template, or declare it in the job's "input"`
	}
	return alternatives(v, name)
}

// members are the types of the fields, and of the results of the methods, of all types that have any.
var members = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[data]():     membersOf(reflect.TypeFor[data]()),
	reflect.TypeFor[*moment]():  membersOf(reflect.TypeFor[*moment]()),
	reflect.TypeFor[job]():      membersOf(reflect.TypeFor[job]()),
	reflect.TypeFor[*failure](): membersOf(reflect.TypeFor[*failure]()),
	reflect.TypeFor[event]():    membersOf(reflect.TypeFor[event]()),
	reflect.TypeFor[upstream](): membersOf(reflect.TypeFor[upstream]()),
	reflect.TypeFor[trigger]():  membersOf(reflect.TypeFor[trigger]()),
}

func membersOf(typ reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for m := range typ.Methods() {
		known[m.Name] = m.Type.Out(0)
	}
	if typ.Kind() == reflect.Struct {
		for f := range typ.Fields() {
			if f.IsExported() {
				known[f.Name] = f.Type
			}
		}
	}
	delete(known, "String")
	return known
}

// kindOf names a typ for people.
func kindOf(typ reflect.Type) string {
	if members[typ] != nil {
		return kinds.Replace(typ.String())
	}
	switch typ.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	default:
		return "a number"
	}
}
