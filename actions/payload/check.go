package payload

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
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
	for _, command := range pipe.Cmds {
		typ = c.operand(command.Args[0], dot)
		for _, arg := range command.Args[1:] {
			c.operand(arg, dot)
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

// operand returns the type of a node's value.
func (c *checker) operand(node parse.Node, dot reflect.Type) (typ reflect.Type) {
	c.count(node.Position())
	switch node := node.(type) {
	case *parse.IdentifierNode:
		return c.call(node)
	case *parse.ChainNode:
		return c.fields(node.Pos, c.operand(node.Node, dot), node.Field)
	case *parse.FieldNode:
		pos := node.Pos
		if len(node.Ident) > 1 { // the type of the second identifier
			pos -= parse.Pos(len(node.Ident[0]) + 1)
		}
		return c.fields(pos, dot, node.Ident)
	case *parse.VariableNode:
		if typ = c.variable(node.Ident[0]).typ; len(node.Ident) > 1 {
			return c.fields(node.Pos, typ, node.Ident[1:])
		}
	case *parse.PipeNode:
		return c.pipe(node, dot)
	case *parse.DotNode:
		typ = dot
	case *parse.StringNode:
		return reflect.TypeFor[string]()
	case *parse.BoolNode:
		return reflect.TypeFor[bool]()
	case *parse.NumberNode:
		if node.IsInt || node.IsFloat {
			return reflect.TypeFor[float64]()
		}
		c.refusef(node.Pos, "%s is not a number that a template can hold", node)
	case *parse.NilNode:
		c.refusef(node.Pos, "nil is not available: what is not there is an empty text")
	}
	if typ == reflect.TypeFor[data]() {
		c.refusef(node.Position(), "the data as a whole cannot be used: name one of its fields, such as .Occurrence")
	}
	return typ
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

// fields returns the type of a field or of a method's result, of a field of a typ.
func (c *checker) fields(pos parse.Pos, typ reflect.Type, fields []string) reflect.Type {
	for i, name := range fields {
		if typ == nil {
			return nil
		}
		if typ == dataType {
			return c.member(pos, fields[i:])
		}
		known := members[typ]
		if known[name] == nil {
			hint := ""
			if len(known) > 0 {
				hint = "; it has ." + strings.Join(slices.Sorted(maps.Keys(known)), ", .")
			}
			what := "field"
			if typ == reflect.TypeFor[*moment]() {
				what = "field or method"
			}
			c.refusef(pos, "%s has no %s .%s%s", kindOf(typ), what, name, hint)
			return nil
		}
		typ, pos = known[name], pos+parse.Pos(len(name)+1)
	}
	if typ == dataType {
		c.uses[allData] = true
	}
	return typ
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
			c.refusef(pos, "%s has no member .%s%s", strings.Join(append([]string{".Data"}, path[:i]...), "."), name, object.hint())
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

// hint lists an object's fields.
func (v values) hint() string {
	if len(v) == 0 {
		return `: give it one in "data" of the job or next to the template, or declare it in the job's "input"`
	}
	return "; it has ." + strings.Join(slices.Sorted(maps.Keys(v)), ", .")
}

// members are the types of the fields, and of the results of the methods, of all types that have any.
var members = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[data]():     membersOf(reflect.TypeFor[data]()),
	reflect.TypeFor[*moment]():  membersOf(reflect.TypeFor[*moment]()),
	reflect.TypeFor[job]():      membersOf(reflect.TypeFor[job]()),
	reflect.TypeFor[*failure](): membersOf(reflect.TypeFor[*failure]()),
}

func membersOf(typ reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for m := range typ.Methods() {
		known[m.Name] = m.Type.Out(0)
	}
	if typ.Kind() == reflect.Struct {
		for f := range typ.Fields() {
			known[f.Name] = f.Type
		}
	}
	delete(known, "String")
	return known
}

// kindOf names a typ for people.
func kindOf(typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Struct:
		return kinds.Replace(typ.String())
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
