package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// Registry is the [scheduler.ActionReader] of several action packages: it selects the package that implements a
// type. It is immutable and safe for concurrent use.
type Registry struct {
	readers map[string]entry // by type in lower case
	types   []string         // canonical, sorted
	members []member
	all     []scheduler.ActionReader
}

// entry is one action type: its canonical spelling and its reader.
type entry struct {
	kind   string
	reader scheduler.ActionReader
}

// member is the field of an action that belongs to one type, so that an error about it in another type can name
// that type.
type member struct {
	name  string
	kinds []string
}

// Optional methods of a [scheduler.ActionReader].
type (
	// memberReader names the field of an action that belongs to one of its types. The registry refuses it in other
	// types.
	memberReader interface{ Member(kind string) string }

	// closer has connections to close.
	closer interface{ Close() }
)

// New returns a registry of the types of all readers. It panics when two of
// them own the same type, in any letter case: that is a defect of the program,
// not of its input.
func New(readers ...scheduler.ActionReader) *Registry {
	g := &Registry{readers: make(map[string]entry), all: slices.Clone(readers)}
	for _, reader := range readers {
		for _, kind := range reader.Types() {
			g.add(kind, reader)
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
		if !o.Holds(m.name) || slices.Contains(m.kinds, e.kind) {
			continue
		}
		if o.Refuse(m.name, "belongs to type %s, not %s", strings.Join(m.kinds, " or "), e.kind) {
			action = nil
		}
	}
	return action
}

// Types implements [scheduler.ActionReader].
func (g *Registry) Types() []string { return slices.Clone(g.types) }

// Readers returns the readers of a registry that implement T, in order.
func Readers[T any](g *Registry) (some []T) {
	for _, reader := range g.all {
		if r, ok := reader.(T); ok {
			some = append(some, r)
		}
	}
	return some
}

// Close closes the connections of all readers. A process calls it when its worker
// has stopped.
func (g *Registry) Close() {
	for _, c := range Readers[closer](g) {
		c.Close()
	}
}
