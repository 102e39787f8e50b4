package payload

import (
	"errors"
	"fmt"
	"slices"
	"text/template/parse"

	"github.com/carillon-sched/carillon/scheduler"
)

// run is one walk through a template. It follows the rules of package text/template for the nodes that are allowed.
type run struct {
	attempt *scheduler.Attempt
	all     bool // look at every branch and argument, and keep no output
	out     []byte
	work    int // bytes that functions read and wrote
	vars    []variable
}

type variable struct {
	name  string
	value any
}

// at gives err a place, unless it has one.
func at(node parse.Node, err error) error {
	if _, ok := errors.AsType[fault](err); ok || err == nil {
		return err
	}
	return fault{node.Position(), err}
}

func (r *run) list(dot any, list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		if err := r.node(dot, node); err != nil {
			return at(node, err)
		}
	}
	return nil
}

func (r *run) node(dot any, node parse.Node) error {
	switch node := node.(type) {
	case *parse.TextNode:
		return r.write(node.Text)
	case *parse.ActionNode:
		value, err := r.pipe(dot, node.Pipe)
		if err != nil || len(node.Pipe.Decl) > 0 {
			return err
		}
		if _, all := value.(whole); all {
			return at(node.Pipe, errWhole)
		}
		return r.write([]byte(textOf(value)))
	case *parse.IfNode:
		return r.branch(dot, &node.BranchNode, false)
	case *parse.WithNode:
		return r.branch(dot, &node.BranchNode, true)
	case *parse.RangeNode:
		return errors.New("{{range}} is not available: a template has no loops")
	case *parse.TemplateNode:
		return errors.New("{{template}}, {{block}} and {{define}} are not available: a template has no templates of its own")
	}
	return fmt.Errorf("%s is not available in a template", node)
}

// write adds to the output.
func (r *run) write(text []byte) error {
	if r.all {
		return nil
	}
	if len(r.out)+len(text) > maxOutput {
		return fmt.Errorf("the output is longer than the allowed %d bytes", maxOutput)
	}
	r.out = append(r.out, text...)
	return nil
}

// branch walks an if or, where dot becomes the value, a with.
func (r *run) branch(dot any, node *parse.BranchNode, with bool) error {
	mark := len(r.vars)
	defer func() { r.vars = r.vars[:mark] }()
	value, err := r.pipe(dot, node.Pipe)
	if err != nil {
		return err
	}
	inner := dot
	if with {
		inner = value
	}
	declared := len(r.vars)
	if r.all || truth(value) {
		if err := r.list(inner, node.List); err != nil || !r.all {
			return err
		}
	}
	r.vars = r.vars[:declared]
	return r.list(dot, node.ElseList)
}

// pipe evaluates commands, each with the value of the one before as its last argument.
func (r *run) pipe(dot any, pipe *parse.PipeNode) (any, error) {
	var final []any
	for _, command := range pipe.Cmds {
		value, err := r.command(dot, command, final)
		if err != nil {
			return nil, at(command, err)
		}
		final = []any{value}
	}
	for _, v := range pipe.Decl {
		r.assign(v.Ident[0], final[0], pipe.IsAssign)
	}
	return final[0], nil
}

func (r *run) assign(name string, value any, existing bool) {
	if existing {
		for i, v := range slices.Backward(r.vars) {
			if v.name == name {
				r.vars[i].value = value
				return
			}
		}
	}
	r.vars = append(r.vars, variable{name, value})
}

// command evaluates a word with its arguments; final is the value of the command before it, if there is one.
func (r *run) command(dot any, command *parse.CommandNode, final []any) (any, error) {
	first, rest := command.Args[0], command.Args[1:]
	switch n := first.(type) {
	case *parse.IdentifierNode:
		return r.function(dot, n, rest, final)
	case *parse.FieldNode:
		return r.chain(dot, dot, n, n.Ident, rest, final)
	case *parse.ChainNode:
		value, err := r.argument(dot, n.Node)
		if err != nil {
			return nil, err
		}
		return r.chain(dot, value, n, n.Field, rest, final)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			return r.chain(dot, r.variable(n.Ident[0]), n, n.Ident[1:], rest, final)
		}
	}
	if len(rest)+len(final) > 0 {
		return nil, at(first, fmt.Errorf("%s takes no arguments: it is not a function", first))
	}
	return r.argument(dot, first)
}

// argument evaluates a node that stands alone.
func (r *run) argument(dot any, node parse.Node) (any, error) {
	switch n := node.(type) {
	case *parse.DotNode:
		return dot, nil
	case *parse.NilNode:
		return nil, nil //nolint:nilnil // the value nil
	case *parse.BoolNode:
		return n.True, nil
	case *parse.StringNode:
		return n.Text, nil
	case *parse.NumberNode:
		value, err := number(n)
		return value, at(node, err)
	case *parse.PipeNode:
		return r.pipe(dot, n)
	case *parse.VariableNode:
		if len(n.Ident) == 1 {
			return r.variable(n.Ident[0]), nil
		}
		return r.chain(dot, r.variable(n.Ident[0]), n, n.Ident[1:], nil, nil)
	case *parse.FieldNode:
		return r.chain(dot, dot, n, n.Ident, nil, nil)
	case *parse.ChainNode:
		value, err := r.argument(dot, n.Node)
		if err != nil {
			return nil, err
		}
		return r.chain(dot, value, n, n.Field, nil, nil)
	case *parse.IdentifierNode:
		return r.function(dot, n, nil, nil)
	}
	return nil, at(node, fmt.Errorf("%s cannot stand here", node))
}

// variable returns the value of a variable, which the parser has seen declared.
func (r *run) variable(name string) any {
	for _, v := range slices.Backward(r.vars) {
		if v.name == name {
			return v.value
		}
	}
	return whole{} // $
}

// chain evaluates fields of fields of a value; the last one takes the arguments.
func (r *run) chain(dot, value any, node parse.Node, fields []string, args []parse.Node, final []any) (any, error) {
	last := len(fields) - 1
	pos := node.Position() // of the first field, but if the node is all fields, of the second
	if _, ok := node.(*parse.FieldNode); ok && last > 0 {
		pos -= parse.Pos(len(fields[0]) + 1)
	}
	for i, field := range fields {
		var values []any
		if i == last {
			var err error
			if values, err = r.arguments(dot, args, final); err != nil {
				return nil, err
			}
		}
		var err error
		if value, err = r.member(value, field, values); err != nil {
			return nil, fault{pos, err}
		}
		pos += parse.Pos(len(field) + 1)
	}
	return value, nil
}

func (r *run) arguments(dot any, nodes []parse.Node, final []any) ([]any, error) {
	if len(nodes) == 0 {
		return final, nil
	}
	values := make([]any, 0, len(nodes)+len(final))
	for _, node := range nodes {
		value, err := r.argument(dot, node)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return append(values, final...), nil
}

// function evaluates a call. Two functions, "and" and "or", leave out arguments that do not matter.
func (r *run) function(dot any, node *parse.IdentifierNode, args []parse.Node, final []any) (any, error) {
	if node.Ident == "and" || node.Ident == "or" {
		value, err := r.logic(dot, node.Ident == "or", args, final)
		return value, at(node, err)
	}
	f, ok := functions[node.Ident]
	if !ok {
		return nil, at(node, fmt.Errorf("there is no function %q; there are %s", node.Ident, functionNames()))
	}
	values, err := r.arguments(dot, args, final)
	if err != nil {
		return nil, err
	}
	value, err := f.apply(r, node.Ident, values)
	return value, at(node, err)
}

// logic returns the first argument whose truth is that of end, or the last one.
func (r *run) logic(dot any, end bool, args []parse.Node, final []any) (any, error) {
	if len(args)+len(final) == 0 {
		return nil, errors.New(`"and" and "or" need arguments`)
	}
	var value any
	for _, node := range args {
		var err error
		if value, err = r.argument(dot, node); err != nil {
			return nil, err
		}
		if truth(value) == end && !r.all {
			return value, nil
		}
	}
	if len(final) > 0 {
		value = final[0]
	}
	return value, nil
}

// charge counts n bytes of work.
func (r *run) charge(n int) error {
	if r.work += n; r.work > maxWork {
		return errors.New("the template does too much: its functions handle more than 1 MiB of text")
	}
	return nil
}
