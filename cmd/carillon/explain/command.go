package explain

import (
	"errors"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/actions/builtin"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// Command is `carillon explain`.
type Command struct {
	Path string `arg:"" name:"field" help:"Path of a field: job.recurrence.schedule, collection.quota."`
}

// Ours returns the documents of this program.
var Ours = sync.OnceValue(func() Documents {
	registry := builtin.New(builtin.Config{})
	defer registry.Close()
	return New(registry)
})

// Run explains a member.
func (c Command) Run(t *terminal.Terminal) error {
	m, err := Ours().Find(c.Path)
	if missing, ok := errors.AsType[*MissingError](err); ok {
		return terminal.Hinted(terminal.Usage(missing), missing.hint())
	}
	if t.JSON {
		return t.PrintJSON(m)
	}
	show(t, &m)
	return nil
}

// hint says what to look at instead.
func (e *MissingError) hint() string {
	path := strings.TrimPrefix(e.Path+"."+e.Near, ".")
	switch {
	case e.Near != "":
		return `did you mean "carillon explain ` + path + `"?`
	case e.Path != "":
		return `run "carillon explain ` + e.Path + `"`
	}
	return `run "carillon explain job" or "carillon explain collection"`
}

// show prints a field for people.
func show(t *terminal.Terminal, m *schema.Member) {
	need := "optional"
	if m.Required {
		need = "required"
	}
	if !strings.Contains(m.Path, ".") {
		need = "document"
	}
	t.Printf("%s: %s, %s\n\n%s\n", m.Path, m.Kind, need, m.Description)
	facts := [][2]string{
		{"Words", strings.Join(m.Words, ", ")}, {"From", m.Bounds}, {"Default", m.Default}, {"Example", example(m)},
	}
	gap := "\n"
	for _, fact := range facts {
		if fact[1] != "" {
			t.Printf("%s%-9s%s\n", gap, fact[0]+":", fact[1])
			gap = ""
		}
	}
	types := "Fields:"
	for _, inner := range m.Members {
		if len(inner.Types) > 0 {
			if with := "With type " + strings.Join(inner.Types, " or ") + ":"; with != types {
				types = with
				t.Printf("\n%s\n", types)
			}
		} else if types != "" {
			t.Printf("\n%s\n", types)
			types = ""
		}
		showLine(t, &inner)
	}
}

// example returns an example of the field in a job file.
func example(m *schema.Member) string {
	if m.Example == "" || m.Name == "*" {
		return m.Example
	}
	return m.Name + ": " + m.Example
}

// showLine prints a field in one line.
func showLine(t *terminal.Terminal, m *schema.Member) {
	kind := m.Kind
	if m.Required {
		kind += ", required"
	}
	first, _, _ := strings.Cut(m.Description, ". ")
	t.Printf("  %-27s %-19s %s\n", m.Name, kind, strings.TrimSuffix(first, ".")+".")
}
