package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Registry is the [scheduler.ActionReader] of several action packages: it
// finds the one that owns a type. It is immutable and safe for concurrent use.
type Registry struct {
	readers map[string]entry // by type in lower case
	types   []string         // canonical, sorted
	members []member
	closers []closer
}

// entry is one action type: its canonical spelling and who reads it.
type entry struct {
	kind   string
	reader scheduler.ActionReader
}

// member is one of an action that holds what belongs to its type, so that one
// beside another type is told for what it is.
type member struct {
	name  string
	kinds []string
}

// Beside the methods of a [scheduler.ActionReader], a reader may have these.
type (
	// memberReader knows the member of an action that holds what belongs to
	// one of its types. The registry refuses it beside other types.
	memberReader interface{ Member(kind string) string }

	// closer has connections to close.
	closer interface{ Close() }
)

// New returns a registry of the types of all readers. It panics when two of
// them own the same type, in any letter case: that is a defect of the program,
// not of its input.
func New(readers ...scheduler.ActionReader) *Registry {
	g := &Registry{readers: make(map[string]entry)}
	for _, reader := range readers {
		for _, kind := range reader.Types() {
			g.add(kind, reader)
		}
		if c, ok := reader.(closer); ok {
			g.closers = append(g.closers, c)
		}
	}
	slices.Sort(g.types)
	return g
}

func (g *Registry) add(kind string, reader scheduler.ActionReader) {
	folded := strings.ToLower(kind)
	if other, taken := g.readers[folded]; taken {
		panic(fmt.Sprintf("actions: action type %s is registered twice (as %s before)", kind, other.kind))
	}
	g.readers[folded] = entry{kind, reader}
	g.types = append(g.types, kind)
	if m, ok := reader.(memberReader); ok {
		g.own(m.Member(kind), kind)
	}
}

// own notes which type a member belongs to.
func (g *Registry) own(name, kind string) {
	for i := range g.members {
		if g.members[i].name == name {
			g.members[i].kinds = append(g.members[i].kinds, kind)
			return
		}
	}
	g.members = append(g.members, member{name, []string{kind}})
}

// ReadAction implements [scheduler.ActionReader]. kind may be in any letter
// case; its reader is given the canonical spelling.
func (g *Registry) ReadAction(kind string, o *document.Object) scheduler.Action {
	e, ok := g.readers[strings.ToLower(kind)]
	if !ok {
		return nil
	}
	action := e.reader.ReadAction(e.kind, o)
	for _, m := range g.members {
		if !slices.Contains(m.kinds, e.kind) && o.Refuse(m.name, "belongs to type %s, not %s", strings.Join(m.kinds, " or "), e.kind) {
			action = nil
		}
	}
	return action
}

// Types implements [scheduler.ActionReader].
func (g *Registry) Types() []string { return slices.Clone(g.types) }

// Close closes the connections of all readers. A process calls it when its worker
// has stopped.
func (g *Registry) Close() {
	for _, c := range g.closers {
		c.Close()
	}
}
